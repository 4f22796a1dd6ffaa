import { delimiter, isAbsolute, posix } from 'node:path';

/**
 * Where the server looks for programs it runs itself, unconfined, out of a PATH. npm and npx put the directories of the
 * project in front of it, where every confined process of that project can leave a program of the same name.
 */
export function toolDirectories(path: string): string[] {
  return path.split(delimiter).filter((directory) => isAbsolute(directory) && !isOfProject(directory));
}

function isOfProject(directory: string): boolean {
  return posix.normalize(`${directory}/`).endsWith('/node_modules/.bin/');
}
