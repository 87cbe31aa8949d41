import { expect } from 'chai'
import type { Knex } from 'knex'
import { inTenant } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { closeUntil, planOf, raiseOne } from './plans.ts'
import type { Plan } from './plans.ts'
import { asRole, makeHouse, refusal } from './support.ts'
import type { House, Role } from './support.ts'

const insert = (trx: Knex.Transaction, table: string, rows: Plan | Plan[]) => trx(table).insert(rows)

for (const role of ['service', 'owner'] as Role[]) {
  for (const isolation of ['read committed', 'repeatable read'] as const) {
    describe(`the periods of the ledger, as the ${role} under ${isolation}`, () => {
      const held = useDatabase()
      let house: House
      let plan: Awaited<ReturnType<typeof planOf>>
      beforeEach(async () => {
        house = await makeHouse()
        plan = await planOf(house)
      })
      const run = (work: (trx: Knex.Transaction) => Promise<unknown>) =>
        refusal(asRole(held.database, role, house.tenantId, work, isolation))

      it('refuses overlapping periods', async () => {
        const [period] = await inTenant(house.tenantId, (trx) =>
          trx('fiscal_period').where({ id: plan.entry['period_id'] }),
        )
        const other = {
          book_id: house.bookId,
          fiscal_year_id: period.fiscalYearId,
          number: 12,
          starts_on: period.startsOn,
          ends_on: period.endsOn,
        }
        expect(await run((trx) => insert(trx, 'fiscal_period', other))).to.be.oneOf(['23P01', '23505'])
        const year = {
          book_id: house.bookId,
          year: 1999,
          starts_on: house.today,
          ends_on: period.endsOn === house.today ? '2200-01-01' : period.endsOn,
        }
        expect(await run((trx) => insert(trx, 'fiscal_year', year))).to.equal('23P01')
      })

      it('moves periods one step at a time and in order, never over waiting events', async () => {
        const [first, second] = await inTenant(house.tenantId, (trx) =>
          trx('fiscal_period').where({ bookId: house.bookId, kind: 'regular' }).orderBy('startsOn').limit(2),
        )
        const move = (id: string, status: string) => run((trx) => trx('fiscal_period').where({ id }).update({ status }))
        if (isolation === 'repeatable read') {
          expect(await move(first.id, 'soft_closed')).to.equal('PL013')
          return
        }
        expect(await move(first.id, 'closed')).to.equal('PL013')
        expect(await move(second.id, 'soft_closed')).to.equal('PL014')
        expect(await move(first.id, 'soft_closed')).to.equal('done')
        expect(await move(second.id, 'soft_closed')).to.equal('done')
        expect(await move(second.id, 'closed')).to.equal('PL014')
        expect(await move(first.id, 'open')).to.equal('PL014')
        expect(await move(second.id, 'open')).to.equal('done')
        expect(await move(first.id, 'open')).to.equal('done')
        await raiseOne(house)
        const mine = plan.entry['period_id'] as string
        await closeUntil(house, 'soft_closed', { butNot: mine })
        expect(await move(mine, 'soft_closed')).to.equal('PL015')
      })
    })
  }
}
