import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { settings } from '../../config/env.ts'
import { userByEmail } from '../../db/auth/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { newEmail } from '../auth/support.ts'
import { built } from '../support/built.ts'
import { useWorld } from '../support/world.ts'

const run = promisify(execFile)

describe('a tenant made on the command line', () => {
  const world = useWorld()
  const create = async (given: string[], password = '') =>
    run(process.execPath, [join(await built(), 'scripts/tenant-create.js'), ...given], {
      env: { ...process.env, DATABASE_URL: settings.databaseUrl, OWNER_PASSWORD: password },
    })
  const house = (email: string) => ['--name', 'Pousada do Mar', '--owner', 'Ana Souza', '--email', email]

  it('can be signed in to by its owner, who sets up a house and sees no other tenant', async () => {
    const email = newEmail('first')
    const { stdout } = await create([...house(email), '--plan', 'Enterprise', '--document', '11.222.333/0001-81'])
    const tenantId = /tenant +(\S+)/.exec(stdout)?.[1] ?? ''
    const password = /password +(\S+)/.exec(stdout)?.[1] ?? ''
    const signedIn = await world.request('POST', '/api/auth/sign-in/email', { body: { email, password } })
    expect(signedIn.status).to.equal(200)
    const { token } = signedIn.body
    const own = await world.request('GET', `/api/tenants/${tenantId}`, { token })
    expect(own.body).to.include({
      id: tenantId,
      name: 'Pousada do Mar',
      plan: 'Enterprise',
      document: '11222333000181',
    })
    const accounts = await world.request('GET', `/api/tenants/${tenantId}/financial/chart-of-accounts`, { token })
    expect([accounts.status, accounts.body.data.length > 0]).to.deep.equal([200, true])
    const again = await create([...house(email), '--plan', 'Starter'], 'not taken: the user is known')
    expect(again.stdout).to.contain('the password is as it was')
    const me = await world.request('GET', '/api/auth/me', { token })
    expect(me.body.tenants).to.have.length(2)
  })

  it('is not made of what is wrong, nor by halves', async () => {
    const before = await sql(world.database.admin, `select id from tenant`)
    const refused = async (given: string[], password = '') =>
      create(given, password).then(
        () => null,
        (error: unknown) => error as { code: number; stderr: string },
      )
    const email = newEmail('second')
    for (const [given, field] of [
      [[...house(email), '--plan', 'Gold'], '--plan'],
      [house('nobody'), '--email'],
      [[...house(email), '--plan', 'Starter', '--time-zone', 'Mars/Olympus'], '--time-zone'],
      [[...house(email), '--plan', 'Starter', '--document', '123'], '--document'],
    ] as const) {
      const failed = await refused([...given])
      expect([failed?.code, failed?.stderr.includes(field)], field).to.deep.equal([2, true])
    }
    const weak = await refused([...house(email), '--plan', 'Starter'], 'short')
    expect(weak).to.include({ code: 1, stderr: 'Choose a password of 12 to 128 characters\n' })
    const dear = await refused([...house(email), '--plan', 'Starter', '--currency', 'XTS'])
    expect(dear).to.include({ code: 1, stderr: 'The plan Starter has no price in XTS\n' })
    expect(await sql(world.database.admin, `select id from tenant`)).to.have.length(before.length)
    expect(await inPlatform((trx) => userByEmail(trx, email))).to.equal(null)
  })
})
