// A small object for file helpers to call, in place of a whole file system.
import fs from 'node:fs/promises';

export const files = {
  readFile: async (path) => new Uint8Array(await fs.readFile(path)),
  writeFile: (path, bytes) => fs.writeFile(path, bytes),
  makeDirectory: async (path) => {
    await fs.mkdir(path);
  },
  remove: (path) => fs.rm(path, { recursive: true }),
  list: (path) => fs.readdir(path),
  refuse: () => {
    throw Object.assign(new Error('refused'), {
      name: 'ExecError',
      code: 'invalidPath',
      data: { path: '/x' },
    });
  },
  echo: (...values) => values,
  echoAfter: (ms, value) =>
    new Promise((resolve) => {
      setTimeout(() => resolve(value), ms);
    }),
  pid: () => process.pid,
  network: () => fs.readlink('/proc/self/ns/net'),
  hang: () => new Promise(() => {}),
};
