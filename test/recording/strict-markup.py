"""Reads one document and prints what is in it: fails on anything that is not plain markup we make ourselves."""
import json
import re
import sys
import xml.etree.ElementTree as tree
from html.parser import HTMLParser

TAGS = {'html', 'head', 'meta', 'title', 'style', 'body', 'pre', 'span', 'i'}
STYLE = re.compile(r'^[a-z0-9#:;. -]*$')
SVG = {
    'svg': {'width', 'height', 'viewBox'},
    'rect': {'x', 'y', 'width', 'height', 'rx', 'fill', 'opacity'},
    'g': {'font-family', 'font-size', 'fill', 'visibility'},
    'set': {'attributeName', 'to', 'begin', 'dur'},
    'animate': {'id', 'attributeName', 'from', 'to', 'begin', 'dur'},
    'text': {'x', 'y', 'textLength', 'lengthAdjust', 'fill', 'font-weight', 'font-style', 'opacity', 'text-decoration',
             '{http://www.w3.org/XML/1998/namespace}space'},
}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.wrong = [], '', []

    def handle_starttag(self, tag, attrs):
        if tag not in TAGS:
            self.wrong.append(f'<{tag}>')
        if tag == 'span' and (len(attrs) != 1 or attrs[0][0] != 'style' or not STYLE.match(attrs[0][1])):
            self.wrong.append(f'{tag} {attrs}')
        if tag in ('pre', 'i', 'body', 'title', 'style') and attrs:
            self.wrong.append(f'{tag} {attrs}')
        if tag != 'meta':
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f'</{tag}>')

    def handle_data(self, data):
        if 'pre' in self.open:
            self.text += data

    def handle_comment(self, data):
        self.wrong.append('comment')

    def handle_pi(self, data):
        self.wrong.append('instruction')

    def unknown_decl(self, data):
        self.wrong.append('declaration')


def html(source):
    page = Page()
    page.feed(source)
    page.close()
    if page.open:
        page.wrong.append(f'left open: {page.open}')
    return page.text, page.wrong


def svg(source):
    text, wrong = [], []
    for element in tree.fromstring(source).iter():
        name = element.tag.removeprefix('{http://www.w3.org/2000/svg}')
        if name not in SVG or not set(element.attrib) <= SVG[name]:
            wrong.append(f'{name} {element.attrib}')
        if element.get('attributeName', 'visibility') not in ('visibility', 'x'):
            wrong.append(f'{name} changes {element.attrib}')
        if name == 'text':
            text.append(element.text or '')
    return '\n'.join(text), wrong


print(json.dumps([{'html': html, 'svg': svg, 'svg-animated': svg}[kind](source) for kind, source in json.load(sys.stdin)]))
