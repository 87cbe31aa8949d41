import { expect } from 'chai'
import { addDays } from '../../config/time.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { wrongTotals } from '../support/counts.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makePayables } from '../support/payables.ts'
import { makeReceivables } from '../support/receivables.ts'
import { useWorld } from '../support/world.ts'
import { makeRows } from './made-rows.ts'

const first = '2025-01-15'
/** Installments of the n-th document: one to four of them, of which some share a month and some leave months out. */
const dues = `select id, tenant_id, 1 + k as seq, cast('${first}' as date) + cast(n * 11 + k * (1 + n % 5) * 17 as int) as due_on
  from (select id, tenant_id, row_number() over (order by id) as n from :document where tenant_id = ? and status = 'draft') d
  cross join generate_series(0, 3) k where k <= n % 4`

for (const document of ['payable', 'receivable'] as const)
  describe(`Counts of each ${document} by the months in which it falls due`, function () {
    this.timeout(60_000)
    const world = useWorld()
    let house: House
    let owner: Desk

    const rows = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
      sql<Row>(world.database.admin, text, values)
    const expectRight = async () => expect(await rows(wrongTotals)).to.deep.equal([])

    before(async () => {
      house = await makeHouse({ units: 2, deposit: null })
      owner = await openDesk(world, house, 'owner')
      await forgetLimits(world)
      const { tenantId } = house
      await (document === 'payable' ? makePayables(house) : makeReceivables(house))
      await world.drain({ starts: 2_000 })
      const changed =
        document === 'payable'
          ? { source: 'one.source', payee_key: 'one.payee_key', status: `'draft'` }
          : { status: `'draft'`, number: 'null', number_prefix: 'one.number_prefix' }
      const original = `status = 'draft'`
      await world.database.admin.transaction((trx) =>
        makeRows(trx, document, { tenantId, from: 1, until: 41, of: {}, growing: new Set(), changed, original }),
      )
      await rows(
        `delete from ${document}_installment where ${document}_id in (select id from ${document} where status = 'draft')`,
      )
      await rows(
        `insert into ${document}_installment (tenant_id, ${document}_id, seq, due_on, amount)
         select tenant_id, id, seq, due_on, 1 from (${dues.replace(':document', document)}) s`,
        [tenantId],
      )
    })

    it('tell how many fall due in any days, whether these cut months or not', async () => {
      await expectRight()
      const path = document === 'payable' ? 'accounts-payable/payables' : 'accounts-receivable/receivables'
      const cuts = [0, 1, 16, 17, 45, 75, 76, 200, 400]
      for (const [at, from] of cuts.entries())
        for (const to of cuts.slice(at)) {
          const [dueFrom, dueTo] = [addDays(first, from - 14), addDays(first, to)]
          const [expected] = await rows<{ n: number; house: number }>(
            `select count(distinct d.id)::int as n, count(distinct d.id) filter (where d.property_id = ?)::int as house from ${document} d
             join ${document}_installment i on i.tenant_id = d.tenant_id and i.${document}_id = d.id
             where d.tenant_id = ? and d.status = 'draft' and i.amount > 0 and i.due_on between ?::date and ?::date`,
            [house.propertyId, house.tenantId, dueFrom, dueTo],
          )
          await forgetLimits(world)
          const asked = async (more: string) =>
            done(await owner.get(`${path}?limit=1&status=draft&dueFrom=${dueFrom}&dueTo=${dueTo}${more}`)).meta.total
          expect(
            [await asked(''), await asked(`&propertyId=${house.propertyId}`)],
            `${dueFrom} ${dueTo}`,
          ).to.deep.equal([expected!.n, expected!.house])
        }
      const [all] = await rows<{ since: number; until: number }>(
        `select count(distinct i.${document}_id) filter (where due_on >= ?::date)::int as since, count(distinct i.${document}_id) filter (where due_on <= ?::date)::int as until
         from ${document}_installment i join ${document} d on d.tenant_id = i.tenant_id and d.id = i.${document}_id
         where i.tenant_id = ? and d.status = 'draft' and i.amount > 0`,
        [addDays(first, 90), addDays(first, 90), house.tenantId],
      )
      const asked = async (days: string) => done(await owner.get(`${path}?limit=1&status=draft&${days}`)).meta.total
      const day = addDays(first, 90)
      expect([await asked(`dueFrom=${day}`), await asked(`dueTo=${day}`)]).to.deep.equal([all!.since, all!.until])
      expect(all!.since).to.be.above(0)
    })

    it('follow installments and documents that change and go at once, while changes are added up', async () => {
      const drafts = `(select id from ${document} where tenant_id = ? and status = 'draft' and abs(hashtext(id::text)) % 3 in (?, 2) order by id for update)`
      const inHouse = (text: string, values: unknown[]) => house.inHouse((trx) => sql(trx, text, values))
      const { tenantId } = house
      const move = (which: number) =>
        inHouse(
          `update ${document}_installment set due_on = due_on + 20 where ${document}_id in ${drafts} and seq in (1, 3)`,
          [tenantId, which],
        )
      const leave = (which: number) =>
        inHouse(
          `update ${document} set property_id = case when property_id is null then ?::uuid end where id in ${drafts}`,
          [house.propertyId, tenantId, which],
        )
      const end = (which: number) =>
        inHouse(`delete from ${document}_installment where ${document}_id in ${drafts} and seq = 2`, [tenantId, which])
      const add = (which: number) =>
        inHouse(
          `insert into ${document}_installment (${document}_id, seq, due_on, amount) select id, 9, date '2025-06-30', 1 from (select id from ${document} where id in ${drafts}) d
           on conflict do nothing`,
          [tenantId, which],
        )
      const fold = () => inPlatform((trx) => sql(trx, `select fold_list_counts(1)`))
      await Promise.all([move(0), leave(1), move(1), leave(0), end(0), add(1), fold()])
      await expectRight()
      await Promise.all([add(0), move(0), leave(0), fold(), end(1), leave(1), move(1)])
      await expectRight()
      await fold()
      await expectRight()
    })
  })
