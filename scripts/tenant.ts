import { parseArgs } from 'node:util'
import {
  exportTenantTo,
  importTenantFrom,
  makeTicket,
  readManifest,
  takeTenantBack,
  withdrawTicket,
} from '../db/admin/index.ts'
import { required, settings } from '../config/env.ts'
import { closeDatabase, openDatabase } from '../db/lib/connection.ts'

const usage = `npm run tenant -- ticket                                            at the target: a ticket for one tenant
npm run tenant -- export --tenant <id> --ticket <ticket> --to <folder>   at the source: the tenant, suspended before, and shut here from now on
npm run tenant -- import --from <folder>                                 at the target: all of it, or nothing
npm run tenant -- withdraw --from <folder>                               at the target: gives the ticket up, and prints the receipt
npm run tenant -- take-back --tenant <id> --receipt <receipt>            at the source: opens the tenant again

Moves a tenant to another installation: docs/operations/moving.md. DATABASE_OWNER_URL, DATA_KEY and INDEX_KEY are those of the installation;
MOVE_KEY is one that both have.`

// A receipt may begin with a dash, which without `=` would be read as a switch.
const args = process.argv.slice(2)
for (const at of args.keys())
  if (args[at] === '--receipt' && at + 1 < args.length) args.splice(at, 2, `--receipt=${args[at + 1]}`)

const { values, positionals } = parseArgs({
  args,
  allowPositionals: true,
  options: {
    tenant: { type: 'string' },
    ticket: { type: 'string' },
    to: { type: 'string' },
    from: { type: 'string' },
    receipt: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const given = (name: 'tenant' | 'ticket' | 'to' | 'from' | 'receipt'): string => {
  const value = values[name]
  if (value) return value
  console.error(`--${name} is missing\n${usage}`)
  process.exit(2)
}
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const tenant = (): string => {
  const id = given('tenant')
  if (uuid.test(id)) return id
  console.error(`--tenant is the id of a tenant\n${usage}`)
  process.exit(2)
}

const acts: Record<string, () => () => Promise<void>> = {
  ticket: () => async () => console.log(await makeTicket(await owner())),
  export: () => {
    const asked = { tenantId: tenant(), ticket: given('ticket'), folder: given('to') }
    return async () => {
      const { tables } = await exportTenantTo(await owner(), asked)
      console.log(`${sumOf(tables)}; the tenant is shut here until it is taken back or deleted`)
    }
  },
  import: () => {
    const folder = given('from')
    return async () => {
      const { tenantId, tables } = await importTenantFrom(await owner(), folder)
      console.log(`${sumOf(tables)}; tenant ${tenantId} is here, suspended`)
    }
  },
  withdraw: () => {
    const folder = given('from')
    return async () => console.log(await withdrawTicket(await owner(), await readManifest(folder)))
  },
  'take-back': () => {
    const [tenantId, receipt] = [tenant(), given('receipt')]
    return async () => {
      await takeTenantBack(await owner(), tenantId, receipt)
      console.log('the tenant is open here again, suspended')
    }
  },
}

const owner = () => openDatabase(required(settings.databaseOwnerUrl, 'DATABASE_OWNER_URL'), 2)
const sumOf = (tables: readonly { rows: number }[]) =>
  `${tables.reduce((sum, { rows }) => sum + rows, 0)} rows of ${tables.filter(({ rows }) => rows > 0).length} tables`

const act = positionals.length === 1 ? acts[positionals[0] ?? ''] : undefined
if (values.help || !act) {
  console.error(usage)
  process.exit(values.help ? 0 : 2)
}
const run = act()
try {
  await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  await closeDatabase()
}
