import { expect, test } from 'vitest';
import { toolDirectories } from '../../src/host/kernel/trusted-path.js';

test('the server’s own tools come from absolute directories that are not a project’s', () => {
  const project = '/ws/node_modules/.bin:/ws/node_modules/.bin/:/ws/node_modules//.bin';
  expect(toolDirectories(`${project}:.::bin:/usr/bin:/opt/.bin`)).toEqual(['/usr/bin', '/opt/.bin']);
});
