import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeDatabase, inPlatform, openDatabase, sqlOne } from '../db/lib/connection.ts'
import { sol } from '../db/demo/ids.ts'
import { liveSol } from '../db/demo/life/index.ts'
import { seedDemo } from '../db/demo/seed.ts'
import { registerModules } from '../db/register.ts'
import { runDue } from '../workers/lib/run-due.ts'

/**
 * Fills an empty development database with the demo, and writes what a script needs to use it to `.data/demo.json`. What an earlier
 * start left unfinished is finished; a database with other tenants and without the demo is left alone.
 */
const directory = process.env.POUSADA_DATA_DIR ?? '.data'
registerModules()
await openDatabase()
try {
  const there = await inPlatform((trx) =>
    sqlOne<{ demo: boolean; any: boolean }>(
      trx,
      `select exists (select from tenant where id = ?) as demo, exists (select from tenant) as "any"`,
      [sol.tenantId],
    ),
  )
  if (there?.any && !there.demo) console.log('there are tenants already; the demo is left out')
  else {
    const demo = await seedDemo()
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'demo.json'), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
    // Mail waits for the workers: the mailbox does not listen yet.
    const isAlive = await liveSol(() => runDue({ queues: ['inventory', 'payments', 'ledger'] }))
    if (!there?.demo) console.log('the demo is there')
    if (!isAlive) console.log('the days of the demo are not whole; the next start goes on with them')
  }
} finally {
  await closeDatabase()
}
