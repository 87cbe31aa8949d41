import { expect } from 'chai'
import { createGuests } from '../../db/guests/index.ts'
import { sql, sqlOne } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { countAudience, nextAudience } from '../../db/ocp/audience.ts'
import { useDatabase } from '../support/database.ts'
import { makeHouse } from '../support/factories.ts'

/** Rows of guests that this transaction has looked at. */
const seen = async (trx: Trx): Promise<number> => {
  const row = await sqlOne<{ n: number }>(
    trx,
    `select seq_tup_read + coalesce(idx_tup_fetch, 0) as n from pg_stat_xact_user_tables where relname = 'guest'`,
  )
  return row?.n ?? 0
}

describe('The audience of a campaign', () => {
  useDatabase()

  it('looks at each guest a few times, however many there are', async () => {
    const house = await makeHouse()
    const many = 400
    const people = Array.from({ length: many }, (_, one) => ({
      firstName: 'Ana',
      lastName: `Souza ${one}`,
      source: 'staff' as const,
      language: 'en',
      tags: ['beach'],
      email: `guest-${one}@example.com`,
    }))
    await house.inHouse(async (trx) => {
      const ids = await createGuests(trx, people, { allowDuplicate: true })
      await sql(
        trx,
        `insert into guest_consent (guest_id, purpose, decision, source, text_version, by)
         select id, 'marketing_email', 'granted', 'desk', 'v1', '{"type": "system"}' from unnest(?::uuid[]) id`,
        [ids],
      )
    })
    const plan = [{ channel: 'email' as const, waitMinutes: 30 }]
    const segment = { tags: ['beach'], notStayedSince: '2026-01-01' }
    await house.inHouse(async (trx) => {
      const before = await seen(trx)
      expect((await countAudience(trx, house.propertyId, segment, plan)).audience).to.equal(many)
      const next = await nextAudience(trx, house.propertyId, segment, plan, { after: null, limit: 500 })
      expect(next).to.have.length(many)
      expect((await seen(trx)) - before).to.be.below(20 * many)
    })
  })
})
