#!/usr/bin/env node
import module from 'node:module';

// Where Node has one (22.1 and up), a cache of compiled code on disk makes the next start faster still.
module.enableCompileCache?.();
await import('../dist/bin/execwire.js');
