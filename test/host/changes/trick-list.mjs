const python = (code) => `python3 - <<'END'\nimport os, mmap\n${code}\nEND`;

/**
 * What people and tools do to files. `fixedTimes`: the times do not depend on when it is done. `isCopied`: the tool copies
 * where it cannot rename, and copies have links of their own. `attributes`: extended attributes are compared, too.
 */
export const tricks = [
  { name: 'append', script: 'echo more >> src/main.c' },
  { name: 'overwrite', script: 'echo new > src/main.c' },
  { name: 'truncate', script: 'truncate -s 3 big.bin' },
  { name: 'extend-sparse', script: 'truncate -s 5M big.bin; printf end >> big.bin' },
  { name: 'sparse-file', script: 'dd if=/dev/zero of=hole bs=1 count=1 seek=20M status=none' },
  { name: 'punch-hole', script: 'fallocate -p -o 4096 -l 65536 big.bin' },
  { name: 'sed-in-place', script: 'sed -i s/hello/bye/ src/main.c' },
  { name: 'perl-in-place', script: 'perl -pi.bak -e s/hello/bye/ src/main.c' },
  { name: 'ed-style-rename', script: 'echo x > .tmp1; mv .tmp1 src/main.c' },
  { name: 'touch-existing', script: "touch -d '2020-01-02 03:04:05.678901234' src/main.c", fixedTimes: true },
  { name: 'touch-new', script: "touch -d '2020-01-02' new", fixedTimes: true },
  { name: 'touch-link', script: "touch -h -d '2020-01-02' link", fixedTimes: true },
  {
    name: 'same-content-again',
    script: 'cp src/main.c m; cat m > src/main.c; rm m; touch -r package.json src/main.c',
    fixedTimes: true,
  },
  {
    name: 'same-size-same-time',
    script: 'printf bye12\\\\n > src/main.c; touch -r package.json src/main.c',
    fixedTimes: true,
  },
  { name: 'chmod', script: 'chmod 640 src/main.c; chmod 700 src/deep; chmod u+s big.bin', fixedTimes: true },
  { name: 'chmod-nothing', script: 'chmod 000 src/main.c', fixedTimes: true },
  { name: 'chmod-same', script: 'chmod 755 src/main.c', fixedTimes: true },
  { name: 'unlink', script: 'rm src/main.c src/deep/f3', fixedTimes: true },
  { name: 'remove-tree', script: 'rm -rf src', fixedTimes: true },
  { name: 'remove-and-make-nested-again', script: 'rm -rf src; mkdir -p src/deep/er; echo x > src/deep/f3' },
  { name: 'remove-and-make-again', script: 'rm -rf src; mkdir src; echo x > src/new' },
  {
    name: 'remove-inner-and-make-again',
    script: 'rm -rf src/deep/er; mkdir -p src/deep/er; rm src/deep/f1; echo f > src/deep/f1',
  },
  { name: 'empty-directory', script: 'rmdir empty; mkdir -p x/y/z' },
  { name: 'move-file', script: 'mv src/main.c moved.c', fixedTimes: true },
  { name: 'move-file-over', script: 'mv src/main.c src/deep/f1', fixedTimes: true },
  { name: 'move-directory', script: 'mv src renamed', fixedTimes: true, isCopied: true },
  { name: 'move-directory-into', script: 'mv src dist/', fixedTimes: true, isCopied: true },
  { name: 'move-new-directory', script: 'mkdir n; echo 1 > n/1; mv n m; mv m dist/k' },
  {
    name: 'swap-files',
    script: 'mv src/main.c t; mv src/deep/f1 src/main.c; mv t src/deep/f1',
    fixedTimes: true,
  },
  { name: 'file-becomes-directory', script: 'rm src/main.c; mkdir src/main.c; echo in > src/main.c/in' },
  { name: 'directory-becomes-file', script: 'rm -r src/deep; echo file > src/deep' },
  { name: 'directory-becomes-link', script: 'rm -r src/deep; ln -s ../dist src/deep' },
  { name: 'link-becomes-file', script: 'rm link; cp a.txt link' },
  { name: 'link-swap', script: 'ln -sfn src/main.c link; ln -sfn a.txt broken' },
  {
    name: 'new-links',
    script: 'ln -s /etc/passwd abs; ln -s ../.. up; ln -s "$(printf "x%.0s" $(seq 1000))" long',
  },
  { name: 'hard-link-new', script: 'echo x > one; ln one two; ln two src/three; echo y >> two' },
  { name: 'hard-link-old', script: 'ln src/main.c src/other', fixedTimes: true },
  { name: 'hard-link-old-then-write', script: 'ln src/main.c src/other; echo both >> src/other' },
  { name: 'fifo', script: 'mkfifo -m 640 queue; rm pipe' },
  {
    name: 'socket-file',
    script: python(
      "import socket\ntry:\n  s=socket.socket(socket.AF_UNIX)\n  s.bind('sock')\nexcept OSError: pass",
    ),
  },
  {
    name: 'extended-attributes',
    script: python(
      "os.setxattr('src/main.c','user.note',b'v\\0x')\nos.setxattr('src/deep','user.dir',b'1')\nopen('n','w').close()\nos.setxattr('n','user.overlay.opaque',b'y')",
    ),
    attributes: true,
  },
  {
    name: 'mmap-write',
    script: python(
      "f=open('big.bin','r+b')\nm=mmap.mmap(f.fileno(),0)\nm[100:105]=b'MMAPS'\nm.flush()\nm.close()",
    ),
  },
  {
    name: 'unnamed-file-linked',
    script: python(
      "import ctypes\nfd=os.open('.',os.O_TMPFILE|os.O_RDWR,0o644)\nos.write(fd,b'tmp')\nif ctypes.CDLL(None).linkat(-100,f'/proc/self/fd/{fd}'.encode(),-100,b'linked',0x400): raise OSError('linkat')",
    ),
  },
  {
    name: 'random-access',
    script: python("fd=os.open('big.bin',os.O_RDWR)\nos.pwrite(fd,b'A',150000)\nos.pwrite(fd,b'B',10)"),
  },
  {
    name: 'open-then-unlink',
    script: python(
      "f=open('gone','w')\nf.write('x')\nos.unlink('gone')\nf.write('y')\nf.close()\nf=open('src/main.c','r+')\nos.unlink('src/main.c')\nf.write('z')",
    ),
  },
  {
    name: 'names-with-every-byte',
    script: python(
      "for b in range(1,256):\n  if b!=47:\n    open(b'n'+bytes([b])+b'x','wb').write(bytes([b]))\nos.mkdir(b'd\\xff')\nopen(b'd\\xff/\\n \\xfe','wb').close()",
    ),
  },
  { name: 'long-names', script: 'touch "$(printf "y%.0s" $(seq 255))"' },
  {
    name: 'deep-tree',
    script: python(
      "for i in range(600):\n  os.mkdir('directory')\n  os.chdir('directory')\nopen('bottom','w').write('b')",
    ),
  },
  {
    name: 'many-files',
    script: 'mkdir many; cd many; for i in $(seq 3000); do : > $i; done; seq 1 500 | xargs rm',
  },
  { name: 'copy-tree', script: 'cp -a src copy; cp -r dist d2', fixedTimes: true },
  {
    name: 'tar-round-trip',
    script: 'tar cf t.tar src link pipe; rm -rf src; tar xpf t.tar; rm t.tar',
    fixedTimes: true,
  },
  { name: 'gzip', script: 'gzip -n src/main.c', fixedTimes: true },
  { name: 'install', script: 'install -D -m 751 src/main.c usr/bin/tool' },
  {
    name: 'git-init-and-commit',
    script:
      'git init -q -b main .; git -c user.name=a -c user.email=a@b add src a.txt; GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z" git -c user.name=a -c user.email=a@b commit -qm x; rm -rf .git/index .git/logs',
  },
  {
    name: 'git-clean-and-checkout',
    script:
      'export GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z"; g="git -c user.name=a -c user.email=a@b"; git init -q -b main .; git add src; $g commit -qm 1; git checkout -qb side; echo s >> src/main.c; $g commit -qam 2; git checkout -q main; git clean -fdxq; git merge -q side; rm -rf .git',
  },
  {
    name: 'git-rebase',
    script:
      'export GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z"; git config --global user.name a; git config --global user.email a@b; git init -q -b main .; git add src; git commit -qm 1; git checkout -qb side; echo s > s; git add s; git commit -qm 2; git checkout -q main; echo m > m; git add m; git commit -qm 3; git checkout -q side; git rebase -q main; rm -rf .git .gitconfig',
  },
  {
    name: 'npm-install-local',
    script:
      'mkdir -p pk/lib; echo "{\\"name\\":\\"pk\\",\\"version\\":\\"1.0.0\\"}" > pk/package.json; echo 1 > pk/lib/i.js; (cd pk; tar czf ../pk.tgz --mtime=@0 --transform s,^,package/, package.json lib); npm install --no-audit --no-fund --offline --cache ./cache ./pk.tgz >/dev/null 2>&1 || true; rm -rf cache pk.tgz .npm',
  },
  {
    name: 'patch',
    script:
      'printf -- "--- a.txt\\n+++ a.txt\\n@@ -1,3 +1,3 @@\\n one\\n-two\\n+zwei\\n three\\n" | TMPDIR=. patch -s -p0',
  },
  {
    name: 'sqlite',
    script: python(
      "import sqlite3\nc=sqlite3.connect('db')\nc.execute('create table t(x)')\nc.execute('insert into t values(1)')\nc.commit()\nc.close()",
    ),
  },
  {
    name: 'zip-and-unzip',
    script: python(
      "import zipfile\nz=zipfile.ZipFile('z.zip','w')\nz.writestr(zipfile.ZipInfo('in/file'),'x')\nz.close()\nzipfile.ZipFile('z.zip').extractall('out')",
    ),
  },
  { name: 'root-mode', script: 'chmod 750 .' },
  { name: 'nothing', script: 'cat a.txt > /dev/null; ls -lR > /dev/null', fixedTimes: true },
  {
    name: 'create-and-remove',
    script: 'mkdir t; echo x > t/y; rm -r t; echo z > a2; rm a2',
    fixedTimes: true,
  },
  {
    name: 'rename-exchange',
    script: python("import ctypes\nl=ctypes.CDLL(None)\nl.renameat2(-100,b'a.txt',-100,b'bin.dat',2)"),
    isCopied: true,
  },
  {
    name: 'lock-and-log',
    script:
      'exec 9>lock; flock 9; for i in $(seq 100); do echo $i >> log; done; mv log log.1; gzip -n log.1; rm lock',
  },
];
