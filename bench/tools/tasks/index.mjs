import { build, failingTest, hugeJson } from './output.mjs';
import { confirm, password, python, rebase } from './prompts.mjs';
import { devServer, followLog, quietJob, runaway } from './waiting.mjs';

/**
 * What models do all day. Each task has a way to do it with our tools and one with the naive tool, both written as a
 * sensible model would go about it, and a check that the answer was really obtained.
 */
export const tasks = [
  build,
  failingTest,
  devServer,
  confirm,
  password,
  python,
  rebase,
  followLog,
  hugeJson,
  quietJob,
  runaway,
];
