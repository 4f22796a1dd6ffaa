// npm run chaos [-- --death | --fleet] …: scenarios with bad lines, with servers that die, or in a fleet.
const [kind = 'run'] = ['death', 'fleet'].filter((name) => process.argv.includes(`--${name}`));
await import(`./${kind}.mjs`);
