// npm run chaos [-- --death] …: scenarios with bad lines, or with servers that die.
await import(process.argv.includes('--death') ? './death.mjs' : './run.mjs');
