#!/usr/bin/env node
import '../dist/bin/execwire.js';
