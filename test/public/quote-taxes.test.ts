import { expect } from 'chai'
import { createApiKey } from '../../db/auth/api-keys.ts'
import { sql } from '../../db/lib/connection.ts'
import { deleteTaxRule } from '../../db/properties/terms/tax-rules.ts'
import { forgetLimits } from '../auth/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeFee } from '../support/taxes.ts'
import { portalOf } from '../support/stay.ts'
import type { Portal } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

describe('A quote of the portal, and its taxes', () => {
  const world = useWorld()
  let house: House
  let portal: Portal
  before(async () => {
    house = await makeHouse({ units: 5, deposit: null })
    const { key } = await house.inHouse((trx) => createApiKey(trx, { name: 'Portal', scopes: ['read', 'write'] }))
    portal = portalOf(world.request, house, key)
  })
  beforeEach(() => forgetLimits(world))

  const quoted = async (): Promise<string> => {
    const { status, body } = await portal.quote()
    expect(status, JSON.stringify(body)).to.equal(200)
    return body.quote
  }

  it('keeps a tax of a quote that is just being held from being deleted', async () => {
    const id = await makeFee(house, 'KEPT')
    const quote = await quoted()
    const { admin } = world.database
    const holder = await admin.transaction()
    try {
      await sql(
        holder,
        `select 1 from pool_night n join unit_pool p on p.tenant_id = n.tenant_id and p.id = n.pool_id where p.property_id = ? for update of n`,
        [house.propertyId],
      )
      const waiting = async (most: number) =>
        (
          await sql(
            admin,
            `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
          )
        ).length >= most
      const hold = portal.hold(quote)
      await until(() => waiting(1))
      const deleted = house
        .inHouse((trx) => deleteTaxRule(trx, id))
        .then(
          () => 'deleted',
          (error: Error & { code?: string }) => error.code,
        )
      await until(() => waiting(2))
      await holder.commit()
      expect((await hold).status).to.equal(201)
      expect(await deleted).to.equal('in_use')
    } finally {
      if (!holder.isCompleted()) await holder.rollback()
    }
  })

  it('refuses a quote with a tax that was deleted since, and takes one that is made anew', async () => {
    const id = await makeFee(house, 'GONE')
    const { inHouse } = house
    const quote = await quoted()
    await inHouse((trx) => deleteTaxRule(trx, id))
    const refused = await portal.hold(quote)
    expect([refused.status, refused.body.code, refused.body.errors[0].field]).to.deep.equal([
      422,
      'quote_invalid',
      'quote',
    ])
    expect((await portal.hold(await quoted())).status).to.equal(201)
  })
})
