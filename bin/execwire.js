#!/usr/bin/env node
'use strict';
require('../dist/bin/loader.cjs').start();
