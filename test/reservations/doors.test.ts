import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { adjustFolio, openChecksWith, postCharges, reinstate, reverseCharges } from '../../db/reservations/index.ts'
import type { ChargeSource } from '../../db/reservations/index.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { setRouting } from '../../db/reservations/folio/set-routing.ts'
import { transferLines } from '../../db/reservations/folio/transfer.ts'
import type { FolioLineRow, FolioRow } from '../../db/rows.ts'
import { makeLateHouse, makeStays } from '../night-audit/support.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { refusal } from '../support/refusals.ts'
import { deskOf, blockersOf } from './desk.ts'

describe('What other modules put on folios', () => {
  useDatabase()
  let house: House
  let stay = ''
  let folio: FolioRow
  beforeEach(async () => {
    house = await makeLateHouse(1, { units: 2 })
    ;[stay = ''] = await makeStays(house, 1, { from: -1, nights: 2, checkedIn: true })
    folio = await folioOf(stay)
  })
  const { healthy, folioOf, change, leave } = deskOf(() => house)

  const order = (): ChargeSource => ({ type: 'pos_order', id: randomUUID() })
  const dinner = [
    { category: 'food' as const, description: 'Dinner', amount: 8_000 },
    { category: 'service_charge' as const, description: 'Service', amount: 800 },
  ]
  const further = (kind: 'company' | 'guest' = 'company') =>
    house.inHouse((trx) => openFolio(trx, { propertyId: house.propertyId, kind, reservationId: stay, label: kind }))
  const balance = async (id: string) =>
    (await house.inHouse((trx) => sql<FolioRow>(trx, `select * from folio where id = ?`, [id])))[0]?.balance
  const lines = (source: { id: string }) =>
    house.inHouse((trx) =>
      sql<FolioLineRow>(trx, `select * from folio_line where source_id = ? order by seq`, [source.id]),
    )
  /** The balance that the postings of orders leave on the account between outlets and folios. */
  const clearing = async () =>
    (
      await house.inHouse((trx) =>
        sql<{ left: number }>(
          trx,
          `select coalesce(sum(l.debit - l.credit), 0)::bigint as left from journal_line l
           join account a on a.id = l.account_id where a.role = 'pos_clearing'`,
        ),
      )
    )[0]?.left

  it('goes where the routes of the stay say, once for a source, and is taken back whole', async () => {
    const food = await further()
    await house.inHouse((trx) => setRouting(trx, stay, [{ categories: ['food'], folioId: food }], null))
    const source = order()
    const posted = await house.inHouse((trx) =>
      postCharges(trx, { to: { reservationId: stay }, source, lines: dinner }),
    )
    expect(posted.lineIds).to.have.lengthOf(2)
    expect([await balance(food), await balance(folio.id)]).to.deep.equal([8_000, folio.balance + 800])
    const again = await house
      .inHouse((trx) => postCharges(trx, { to: { reservationId: stay }, source, lines: dinner }))
      .catch((error: unknown) => (error as { constraint?: string }).constraint)
    expect(again).to.equal('folio_line_source')
    await healthy({ orders: false })
    expect(await clearing()).to.equal(-8_800)
    const back = await house.inHouse((trx) => reverseCharges(trx, source))
    expect(back.amount).to.equal(8_800)
    expect((await house.inHouse((trx) => reverseCharges(trx, source))).amount).to.equal(0)
    expect([await balance(food), await balance(folio.id)]).to.deep.equal([0, folio.balance])
    await healthy({ orders: false })
    expect(await clearing()).to.equal(0)
  })

  it('is taken back on the folio that it was moved to, without what was adjusted before', async () => {
    const source = order()
    await house.inHouse((trx) => postCharges(trx, { to: { folioId: folio.id }, source, lines: dinner }))
    const other = await further()
    const [meal] = await lines(source)
    await house.inHouse((trx) =>
      transferLines(trx, folio.id, { toFolioId: other, lines: [{ lineId: meal?.id ?? '', amount: 5_000 }] }),
    )
    const compensation = { type: 'issue_compensation', id: randomUUID() }
    const adjust = () =>
      house.inHouse((trx) =>
        adjustFolio(trx, {
          folioId: folio.id,
          lineId: meal?.id ?? '',
          amount: 1_000,
          description: 'Cold dinner',
          source: compensation,
        }),
      )
    expect(await adjust()).to.deep.equal(await adjust())
    expect((await house.inHouse((trx) => reverseCharges(trx, source))).amount).to.equal(7_800)
    expect([await balance(other), await balance(folio.id)]).to.deep.equal([0, folio.balance])
    await healthy({ orders: false })
  })

  it('is refused for guests who left, locked folios and limits, and leaves nothing behind', async () => {
    const [away = ''] = await makeStays(house, 1, { from: 3, nights: 2 })
    const post = (to: Parameters<typeof postCharges>[1]['to'], more: object = {}) =>
      house.inHouse((trx) => postCharges(trx, { to, source: order(), lines: dinner, ...more }))
    expect((await refusal(post({ reservationId: away }))).code).to.equal('rule_violated')
    expect((await refusal(post({ reservationId: randomUUID() }))).code).to.equal('not_found')
    await change(`update folio set credit_limit = balance + 8799 where id = ?`, [folio.id])
    expect((await refusal(post({ reservationId: stay }))).code).to.equal('credit_limit_exceeded')
    expect((await post({ reservationId: stay }, { beyondLimit: true })).lineIds).to.have.lengthOf(2)
    await change(`update folio set locked = true where id = ?`, [folio.id])
    expect((await refusal(post({ folioId: folio.id }))).code).to.equal('folio_locked')
    const all = await house.inHouse((trx) => sql(trx, `select 1 from folio_line where source_type = 'pos_order'`))
    expect(all).to.have.lengthOf(2)
    await healthy({ orders: false })
  })

  it('keeps a guest in the house while an order of theirs is open', async () => {
    const open = [stay]
    openChecksWith(async (_, ids) =>
      ids.filter((id) => open.includes(id)).map((reservationId) => ({ reservationId, number: 'BAR-1' })),
    )
    expect(await blockersOf(leave(stay, true, 'balance'))).to.deep.equal(['open_checks'])
    open.pop()
    expect(await leave(stay, true, 'balance')).to.equal('checked_out')
  })
})

describe('A fee that was moved to another folio', () => {
  useDatabase()

  it('is taken back there when its stay is reinstated, and what is left of it when a part was moved', async () => {
    const house = await makeLateHouse(1, { units: 2, settings: { frontDesk: { noShowFrom: '00:00' } } })
    const { miss, folioOf, healthy } = deskOf(() => house)
    const [stay = ''] = await makeStays(house, 1, { from: -1, nights: 2 })
    await miss(stay)
    const folio = await folioOf(stay)
    expect(folio.balance).to.be.above(0)
    const comps = await house.inHouse((trx) =>
      openFolio(trx, { propertyId: house.propertyId, kind: 'house', label: 'Comps' }),
    )
    const [fee] = await house.inHouse((trx) =>
      sql<FolioLineRow>(trx, `select * from folio_line where folio_id = ? and kind = 'fee'`, [folio.id]),
    )
    await house.inHouse((trx) =>
      transferLines(trx, folio.id, {
        toFolioId: comps,
        lines: [{ lineId: fee?.id ?? '', amount: (fee?.amount ?? 0) - 1 }],
      }),
    )
    await house.inHouse((trx) => reinstate(trx, stay, { reason: 'they came after all' }))
    const after = await house.inHouse((trx) =>
      sql<FolioRow>(trx, `select * from folio where id = any(?::uuid[])`, [[folio.id, comps]]),
    )
    expect(after.map((one) => one.balance)).to.deep.equal([0, 0])
    await healthy({ orders: false })
  })
})
