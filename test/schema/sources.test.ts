import { expect } from 'chai'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const checkout = fileURLToPath(new URL('../../', import.meta.url))

const sources = ['api', 'config', 'db', 'jobs', 'scripts', 'workers'].flatMap((folder) =>
  readdirSync(join(checkout, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file)),
)

const naming = (pattern: RegExp) => sources.filter((file) => pattern.test(readFileSync(join(checkout, file), 'utf8')))

describe('the sources', () => {
  it('name the counters of nights in the module of units alone: who sells goes through moveInventory', () => {
    const outside = naming(/\bpool_night\b/).filter(
      // The generated rows, and the registry of tenants' data, name every table.
      (file) =>
        file !== 'config/tenant-data/units.ts' &&
        !file.startsWith('db/units/') &&
        !file.startsWith('db/migrations/') &&
        !file.endsWith('/rows.ts'),
    )
    // The names of its checks are told apart where errors are mapped.
    expect(outside).to.deep.equal([])
    expect(naming(/\b(update|insert into) pool_night\b/i)).to.have.members([
      'db/units/inventory.ts',
      'db/units/nights.ts',
    ])
  })

  it('open a tenant in one way alone', () => {
    expect(naming(/set_config\('app\.tenant_id'/)).to.deep.equal(['db/lib/connection.ts'])
  })

  it('import TypeBox, PASETO and the environment in one file each', () => {
    expect(naming(/from 'typebox'/)).to.deep.equal(['config/schema.ts'])
    expect(naming(/from 'paseto/)).to.deep.equal(['config/tokens.ts'])
    expect(naming(/\bprocess\.env\b/).filter((file) => !file.startsWith('scripts/'))).to.deep.equal(['config/env.ts'])
  })
})
