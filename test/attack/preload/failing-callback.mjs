// Loaded into a server before anything else: makes the mistakes on demand that the server itself hopefully does not make.
const SECRET = 'argv-and-token-s3cret';

class LoudError extends Error {
  // Some stacks show more than the message.
  code = 'ELOUD';
}

const fail = () => {
  throw new LoudError(`spawn ${SECRET} failed\n    at ${SECRET} (fake.js:1:1)`);
};

process.on('SIGUSR2', () => {
  void Promise.reject(new LoudError(SECRET));
  void Promise.reject(SECRET);
  void Promise.reject({ toString: fail });
  setImmediate(fail);
  setTimeout(fail, 1);
  queueMicrotask(fail);
  process.nextTick(() => {
    throw SECRET;
  });
  process.stdout.write('', fail);
  // Last, so that whoever sees it knows that all of it has happened.
  setTimeout(() => process.stderr.write('all of it failed\n'), 20);
});
