import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { openDatabase, sql } from '../../db/lib/connection.ts'
import { makeHouse } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeKey, makeTenant, makeUser, signIn } from './support.ts'

describe('what every request asks of PostgreSQL', function () {
  this.timeout(120_000)
  const world = useWorld()

  it('is kept by the connections: the right of a member and of a key, and the lock of the record', async () => {
    const tenantId = await makeTenant()
    const house = await makeHouse({ tenantId })
    const { token } = await signIn(world, await makeUser({ [tenantId]: 'owner' }))
    const { key } = await makeKey(tenantId, ['read'])
    const path = `/api/tenants/${tenantId}/properties/${house.propertyId}`
    const one = await openDatabase(settings.databaseUrl, 1)
    const replies = [
      await world.request('PATCH', path, { token, body: { phone: '+552433710000' } }),
      await world.request('GET', path, { key }),
      await world.request('GET', `/api/public/property/${house.propertyId}/config`),
    ]
    expect(replies.map(({ status }) => status)).to.deep.equal([200, 200, 200])
    const kept = await sql<{ statement: string }>(one, `select statement from pg_prepared_statements`)
    for (const part of [
      'from tenant t left join membership m on m.user_id = $1',
      'from tenant t where t.id = $1',
      'from property_directory d join property p',
      'from "property" r where r."id" = $1',
    ])
      expect(
        kept.some(({ statement }) => statement.includes(part)),
        part,
      ).to.equal(true)
  })
})
