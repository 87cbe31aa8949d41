import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeDatabase, openDatabase } from '../db/connection.ts'
import { seedDemo } from '../db/demo/seed.ts'

/** Fills an empty development database with the demo, and writes what a script needs to use it to `.data/demo.json`. */
const folder = process.env.POUSADA_DATA_DIR ?? '.data'
await openDatabase()
const demo = await seedDemo()
await closeDatabase()
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'demo.json'), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
console.log('the demo is there')
