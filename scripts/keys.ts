import { freshKeys } from './services/keys.ts'

/** Prints fresh keys as a deployment's settings; they are kept nowhere. */
for (const [name, value] of Object.entries(freshKeys('k1').environment)) console.log(`${name}=${value}`)
