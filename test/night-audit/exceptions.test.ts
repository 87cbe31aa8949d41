import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { approveSession, closeSession, createCashAccount, openSession } from '../../db/cash/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { advanceNightAudit } from '../../db/night-audit/advance.ts'
import { exceptionsOfDay } from '../../db/night-audit/exceptions.ts'
import { useDatabase } from '../support/database.ts'
import type { House } from '../support/factories.ts'
import { deskOf } from '../reservations/desk.ts'
import { closeOpenDay, makeLateHouse, makeStays, readAudit, readStay, request, runAudit } from './support.ts'

describe('The night audit finds', () => {
  const held = useDatabase()
  let house: House
  beforeEach(async () => {
    house = await makeLateHouse(2, { units: 3 })
  })
  const { leave, folioOf } = deskOf(() => house)

  it('what was waived on the day, and who left with a folio that owes, on that day alone and of that house alone', async () => {
    const other = await makeLateHouse(2, { units: 3 })
    const [id = ''] = await makeStays(house, 1, { from: -3, nights: 3, checkedIn: true })
    const [paid = ''] = await makeStays(house, 1, { from: -2, nights: 3, checkedIn: true })
    expect(await leave(id, true, 'balance')).to.equal('checked_out')
    const { number, balance } = await folioOf(id)
    const found = async (of: House) =>
      (await readAudit(of, await closeOpenDay(of))).exceptions as {
        code: string
        reservationId: string
        message: string
      }[]
    const first = await found(house)
    expect(first.filter((one) => one.code === 'balance_after_departure')).to.deep.equal([
      {
        code: 'balance_after_departure',
        reservationId: id,
        message: `folio ${number} of a guest who left has a balance of ${balance}`,
      },
    ])
    const waived = first.filter((one) => one.code === 'override')
    expect(waived.map((one) => one.reservationId)).to.include.members([id])
    expect(waived.find((one) => one.message.includes('balance'))?.message).to.match(/-1: check.out waived balance$/)
    expect((await readStay(house, paid)).status).to.equal('checked_in')
    expect(await found(house)).to.deep.equal([])
    expect(await found(other)).to.deep.equal([])
  })

  it('lines and steps of its house by the house that they keep, which is that of their folio and stay', async () => {
    await makeStays(house, 1, { from: -3, nights: 3, checkedIn: true })
    await closeOpenDay(house)
    for (const [table, parent] of [
      ['folio_line', 'folio'],
      ['reservation_event', 'reservation'],
    ]) {
      const rows = await house.inHouse((trx) =>
        sql<{ isOwn: boolean }>(
          trx,
          `select l.property_id is not distinct from p.property_id as is_own from ${table} l
           join ${parent} p on p.tenant_id = l.tenant_id and p.id = l.${parent}_id`,
        ),
      )
      expect(rows.length, table).to.be.above(0)
      expect(rows.filter(({ isOwn }) => !isOwn)).to.deep.equal([])
    }
  })

  it('registers whose difference waits for a second person, each day until that has approved it', async () => {
    const other = await makeLateHouse(2, { units: 3 })
    const as = <T>(work: (trx: Trx) => Promise<T>) =>
      inTenant(house.tenantId, work, { actor: { type: 'user', id: randomUUID() } })
    const sessionId = await as(async (trx) => {
      const registerId = await createCashAccount(trx, {
        kind: 'register',
        code: 'BAR',
        name: 'Bar',
        propertyId: house.propertyId,
      })
      return openSession(trx, registerId, {})
    })
    await as((trx) => closeSession(trx, sessionId, { count: { '100': 1 } }, { mayApprove: true }))
    const found = async (of: House) =>
      ((await readAudit(of, await closeOpenDay(of))).exceptions as { code: string; message: string }[]).filter(
        ({ code }) => code === 'session_in_review',
      )
    const listed = {
      code: 'session_in_review',
      reservationId: null,
      message: `register BAR: the difference of its session of ${house.day(-2)} waits for approval`,
    }
    expect(await house.inHouse((trx) => exceptionsOfDay(trx, house.propertyId, house.day(-3)))).to.deep.equal([])
    expect(await found(house)).to.deep.equal([listed])
    expect(await found(house)).to.deep.equal([listed])
    expect(await found(other)).to.deep.equal([])
    await as((trx) => approveSession(trx, sessionId, { note: undefined, expected: null }))
    expect(await house.inHouse((trx) => exceptionsOfDay(trx, house.propertyId, house.day(0)))).to.deep.equal([])
  })

  it('what was odd about the day once, though the release before has found some of it already', async () => {
    const [id = ''] = await makeStays(house, 1, { from: -3, nights: 3, checkedIn: true })
    await leave(id, true, 'balance')
    const { id: auditId } = await request(house, house.day(-2))
    const found = await house.inHouse((trx) => exceptionsOfDay(trx, house.propertyId, house.day(-2)))
    const [early] = found
    await held.database.admin.raw(
      `update night_audit set exceptions = jsonb_build_array(?::jsonb), exception_count = 1 where id = ?`,
      [JSON.stringify(early), auditId],
    )
    await runAudit(house, auditId)
    const { exceptions, exceptionCount } = await readAudit(house, auditId)
    expect(found).to.have.lengthOf(2)
    expect([exceptions, exceptionCount]).to.deep.equal([found, 2])
  })

  it('how many stays each step goes through before it begins, and says how far it is', async () => {
    await makeStays(house, 3, { from: -2 })
    const { id } = await request(house, house.day(-2))
    const seen: string[] = []
    for (let state = 'more'; state === 'more';) {
      state = await house.inHouse((trx) => advanceNightAudit(trx, id, id, 1))
      const { step, done, total } = await readAudit(house, id)
      if (step === 'no_shows') seen.push(`${done} of ${total}`)
    }
    expect(seen).to.deep.equal(['1 of 3', '2 of 3', '3 of 3', '3 of 3'])
  })
})
