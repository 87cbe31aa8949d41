import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { events } from '../../config/events/all.ts'
import { bankStatementImported, bankStatementRejected } from '../../config/events/cash-statements.ts'
import { channelFailed, channelConnected } from '../../config/events/channels.ts'
import type { Event } from '../../config/events/event.ts'
import { fiscalDocumentAuthorised, fiscalDocumentRejected } from '../../config/events/fiscal.ts'
import { stockDriftFound } from '../../config/events/inventory.ts'
import { paymentExceptionOpened } from '../../config/events/payment.ts'
import { pixConnectionFailed, pixConnectionRecovered } from '../../config/events/pix.ts'
import { reservationOverbooked } from '../../config/events/reservations.ts'
import { assignmentStranded, unitDiscrepancyDetected } from '../../config/events/units.ts'
import { endingEvents, openingEvents } from '../../config/issue-causes.ts'
import { shippedCategories } from '../../config/issues.ts'
import type { Schema, Static } from '../../config/schema.ts'
import {
  endFromEvent,
  endGone,
  endSettled,
  goneJobs,
  openForJobs,
  openFromEvent,
  settledStays,
  untoldJobs,
} from '../../db/issues/index.ts'
import { lockDayForRoll, rollBusinessDay } from '../../db/financial/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { emit } from '../../db/lib/events.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeConfirmed } from '../support/messages.ts'
import { startPayment } from '../support/pay.ts'
import { useWorld } from '../support/world.ts'

describe('Issues that the system opens', function () {
  this.timeout(60_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  before(async () => {
    house = await makeHouse({ units: 3, deposit: null })
    owner = await openDesk(world, house, 'owner')
  })
  beforeEach(() => forgetLimits(world))

  const read = async (id: string) => (await owner.get(`issues/${id}`)).body
  const post = (id: string, verb: string, body: object = {}) => owner.send('POST', `issues/${id}/${verb}`, body)
  const channel = (id: string, event: typeof channelFailed) =>
    house.inHouse((trx) =>
      emit(trx, event, {
        propertyId: house.propertyId,
        id,
        version: 1,
        data: { channelConnectionId: id, driver: 'sandbox', cause: 'down' },
      }),
    )
  const ofKey = async (key: string) =>
    house.inHouse((trx) =>
      sql<{ id: string; occurrences: number; status: string; cause: string | null }>(
        trx,
        `select id, occurrences, status, cause from issue where source_key = ?`,
        [key],
      ),
    )

  it('open by themselves once for a cause, count its repetitions, and end with it', async () => {
    const id = randomUUID()
    const events = await Promise.all(Array.from({ length: 10 }, () => channel(id, channelFailed)))
    await Promise.all([...events, ...events].map((eventId) => house.inHouse((trx) => openFromEvent(trx, eventId))))
    expect(await ofKey(`channel:${id}`)).to.deep.include.members([
      { ...(await ofKey(`channel:${id}`))[0], occurrences: 10, status: 'open' },
    ])
    const end = await channel(id, channelConnected)
    await house.inHouse((trx) => endFromEvent(trx, end))
    await house.inHouse((trx) => endFromEvent(trx, end))
    const [ended] = await ofKey(`channel:${id}`)
    expect(ended).to.include({ status: 'resolved', cause: 'system' })
    // A late job of what is over is counted alone; a cause that is back opens it again.
    const [late, over] = [await channel(id, channelFailed), await channel(id, channelConnected)]
    for (const eventId of [late, late]) await house.inHouse((trx) => openFromEvent(trx, eventId))
    expect(await ofKey(`channel:${id}`)).to.deep.equal([{ ...ended, occurrences: 11 }])
    await house.inHouse((trx) => endFromEvent(trx, over))
    const back = await channel(id, channelFailed)
    await Promise.all([back, back].map((eventId) => house.inHouse((trx) => openFromEvent(trx, eventId))))
    expect(await ofKey(`channel:${id}`)).to.deep.equal([{ ...ended, occurrences: 12, status: 'open' }])
    expect(await read(ended?.id ?? '')).to.include({ status: 'open', reopenCount: 1 })
  })

  it('do not open after their cause has ended', async () => {
    const id = randomUUID()
    const failed = await channel(id, channelFailed)
    const connected = await channel(id, channelConnected)
    await house.inHouse((trx) => endFromEvent(trx, connected))
    await house.inHouse((trx) => openFromEvent(trx, failed))
    expect(await ofKey(`channel:${id}`)).to.deep.equal([])
    // It may be another record that ends it.
    const cashAccountId = randomUUID()
    const statement = (event: typeof bankStatementRejected) => {
      const bankStatementId = randomUUID()
      return house.inHouse((trx) =>
        emit(trx, event, {
          propertyId: house.propertyId,
          id: bankStatementId,
          version: 1,
          data: { bankStatementId, cashAccountId, from: null, to: null, lineCount: 0 },
        }),
      )
    }
    const rejected = await statement(bankStatementRejected)
    await statement(bankStatementImported)
    await house.inHouse((trx) => openFromEvent(trx, rejected))
    expect(await ofKey(`bank_statements:${cashAccountId}`)).to.deep.equal([])
  })

  it('open once for payments that need a decision, and for no other exception', async () => {
    const bookingId = await makeConfirmed(house, { from: 6 })
    const paymentId = await startPayment(house, bookingId, 'all')
    const tell = (kind: 'late_payment' | 'unknown_at_gateway', id = randomUUID()) =>
      house.inHouse((trx) =>
        emit(trx, paymentExceptionOpened, {
          propertyId: house.propertyId,
          id,
          version: 1,
          data: {
            paymentExceptionId: id,
            kind,
            subjectType: 'payment',
            subjectId: paymentId,
            amount: 100,
            currency: 'BRL',
            resolution: null,
          },
        }),
      )
    const [mine, other] = [randomUUID(), randomUUID()]
    const told = await Promise.all([tell('late_payment', mine), tell('late_payment', mine), tell('late_payment', mine)])
    told.push(await tell('unknown_at_gateway', other))
    await Promise.all([...told, ...told].map((eventId) => house.inHouse((trx) => openFromEvent(trx, eventId))))
    const [issue] = await ofKey(`payment_exception:${mine}`)
    expect(issue).to.include({ occurrences: 3, status: 'open' })
    expect(await read(issue?.id ?? '')).to.include({
      priority: 'high',
      source: 'system',
      team: 'finance',
      paymentId,
    })
    expect(await ofKey(`payment_exception:${other}`)).to.deep.equal([])
  })

  it('are left to the people who took them when their cause ends', async () => {
    const id = randomUUID()
    await channel(id, channelFailed)
    await world.drain()
    const [issue] = await ofKey(`channel:${id}`)
    expect((await post(issue?.id ?? '', 'start')).status).to.equal(200)
    await channel(id, channelConnected)
    await world.drain()
    const now = await read(issue?.id ?? '')
    expect(now.status).to.equal('in_progress')
    expect(now.comments.at(-1).text).to.include('channel.connected')
  })

  it('keep what was missed before their cause ended, and are not opened again beside their successor', async () => {
    const id = randomUUID()
    await house.inHouse(async (trx) => openFromEvent(trx, await channel(id, channelFailed)))
    const [first] = await ofKey(`channel:${id}`)
    const firstId = first?.id ?? ''
    await world.database.admin.raw(
      `update issue set created_at = created_at - interval '40 minutes', first_response_due_at = first_response_due_at - interval '40 minutes' where id = ?`,
      [firstId],
    )
    const connected = await channel(id, channelConnected)
    await house.inHouse((trx) => endFromEvent(trx, connected))
    const ended = await read(firstId)
    expect([ended.status, ended.escalation]).to.deep.equal(['resolved', 1])
    expect(ended.clocks.firstResponse.breachedAt).to.not.equal(null)
    expect((await post(firstId, 'close', { outcome: 'resolved' })).status).to.equal(200)
    await house.inHouse(async (trx) => openFromEvent(trx, await channel(id, channelFailed)))
    expect((await ofKey(`channel:${id}`)).map(({ status }) => status).toSorted()).to.deep.equal(['closed', 'open'])
    const again = await post(firstId, 'reopen', { reason: 'It was not mended' })
    expect([again.status, again.body.code]).to.deep.equal([409, 'invalid_transition'])
  })

  it('open for an overbooked stay, and end when it has its unit', async () => {
    const bookingId = await makeConfirmed(house, { from: 3 })
    const [stay] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from reservation where booking_id = ?`, [bookingId]),
    )
    const id = stay?.id ?? ''
    await house.inHouse((trx) =>
      emit(trx, reservationOverbooked, {
        propertyId: house.propertyId,
        id,
        version: 1,
        data: { reservationId: id, number: 'AB', bookingId, status: 'confirmed', nights: [] },
      }),
    )
    await world.drain({ kinds: ['maintenance.open-issue'] })
    expect((await ofKey(`reservation:${id}`))[0]).to.include({ status: 'open' })
    await world.drain()
    for (const { tenantId, id: due } of await inPlatform((trx) => settledStays(trx)))
      await inTenant(tenantId, (trx) => endSettled(trx, due))
    expect((await ofKey(`reservation:${id}`))[0]).to.include({ status: 'resolved', cause: 'system' })
  })

  it('open once for jobs that wait for an operator, with their number, and end when none is left', async () => {
    const { admin } = world.database
    const [kind, key] = ['maintenance.bench', 'dead_jobs:maintenance.bench']
    const die = (count: number) =>
      sql(
        admin,
        `insert into jobs (id, tenant_id, queue, kind, payload, status, request_id, actor)
         select gen_random_uuid(), ?, 'maintenance', ?, '{}', 'dead', 'r', '{}' from generate_series(1, ?::int)`,
        [house.tenantId, kind, count],
      )
    const look = async () => {
      const found = (await inPlatform((trx) => untoldJobs(trx))).filter((one) => one.tenantId === house.tenantId)
      for (const one of found) await house.inHouse((trx) => openForJobs(trx, one))
      for (const { id } of await inPlatform((trx) => goneJobs(trx))) await house.inHouse((trx) => endGone(trx, id))
      return found.map(({ count }) => count)
    }
    await die(2)
    expect(await look()).to.deep.equal([2])
    expect(await look()).to.deep.equal([])
    await die(3)
    expect(await look()).to.deep.equal([5])
    expect((await ofKey(key)).map(({ occurrences, status }) => [occurrences, status])).to.deep.equal([[5, 'open']])
    await sql(admin, `delete from jobs where kind = ? and tenant_id = ?`, [kind, house.tenantId])
    await look()
    expect((await ofKey(key))[0]).to.include({ status: 'resolved', cause: 'system' })
    await die(1)
    expect(await look()).to.deep.equal([1])
    expect(await look()).to.deep.equal([])
    expect((await ofKey(key)).map(({ occurrences, status }) => [occurrences, status])).to.deep.equal([[1, 'open']])
    await sql(admin, `delete from jobs where kind = ? and tenant_id = ?`, [kind, house.tenantId])
    await look()
    expect((await ofKey(key))[0]).to.include({ status: 'resolved', cause: 'system' })
    // People who close it are not told again of what they knew.
    const id = (await ofKey(key))[0]?.id ?? ''
    expect((await post(id, 'close', { outcome: 'resolved' })).status).to.equal(200)
    await sql(
      admin,
      `insert into jobs (id, tenant_id, queue, kind, payload, status, request_id, actor, created_at)
       values (gen_random_uuid(), ?, 'maintenance', ?, '{}', 'dead', 'r', '{}', now() - interval '1 day')`,
      [house.tenantId, kind],
    )
    expect(await look()).to.deep.equal([])
    await die(1)
    expect(await look()).to.deep.equal([2])
    await sql(admin, `delete from jobs where kind = ? and tenant_id = ?`, [kind, house.tenantId])
  })

  it('open for what fails with banks, authorities, books and stock, and end with it', async () => {
    const [id, cashAccountId] = [randomUUID(), randomUUID()]
    const account = { pixConnectionId: null, cashAccountId }
    const tell = async <S extends Schema>(event: Event<S>, data: Static<S>) => {
      const eventId = await house.inHouse((trx) =>
        emit(trx, event, { propertyId: house.propertyId, id, version: 1, data }),
      )
      await world.drain({ kinds: ['maintenance.open-issue', 'maintenance.end-issue'] })
      return eventId
    }
    await tell(pixConnectionFailed, account)
    await tell(pixConnectionFailed, account)
    expect((await ofKey(`pix_connection:${cashAccountId}`))[0]).to.include({ occurrences: 2, status: 'open' })
    await tell(pixConnectionRecovered, account)
    expect((await ofKey(`pix_connection:${cashAccountId}`))[0]).to.include({ status: 'resolved', cause: 'system' })
    const fiscal = { fiscalDocumentId: id, receivableId: null, kind: 'nfse' as const, number: 1, code: 'E1' }
    await tell(fiscalDocumentRejected, fiscal)
    expect((await ofKey(`fiscal_document:${id}`))[0]).to.include({ status: 'open' })
    await tell(fiscalDocumentAuthorised, { ...fiscal, code: null })
    expect((await ofKey(`fiscal_document:${id}`))[0]).to.include({ status: 'resolved' })
    await tell(stockDriftFound, { inventoryItemId: null, inventoryLocationId: null, quantity: '5', unit: null })
    expect(await ofKey(`stock:${id}`)).to.have.length(1)
    const statement = { bankStatementId: id, cashAccountId, from: null, to: null, lineCount: 0 }
    await tell(bankStatementRejected, statement)
    await tell(bankStatementImported, statement)
    expect((await ofKey(`bank_statements:${cashAccountId}`))[0]).to.include({ status: 'resolved' })
  })

  it('listen to each event that opens or ends one, and to no other', () => {
    const heard = (listener: 'issues' | 'issues ended') =>
      events.filter(({ listeners }) => listeners.includes(listener)).map(({ type }) => type)
    expect(heard('issues')).to.have.members(Object.keys(openingEvents))
    // Those of stays end by the sweep.
    const ending = Object.keys(endingEvents).filter((type) => !type.startsWith('reservation.'))
    expect(heard('issues ended')).to.have.members(ending)
    const codes = new Set(shippedCategories.map(({ code }) => code))
    for (const { category } of Object.values(openingEvents)) expect(codes.has(category), category).to.equal(true)
  })

  it('open for a unit on each business date on which it is not as it should be, and for a stay that lost its unit', async () => {
    const other = await makeHouse({ tenantId: house.tenantId, units: 1, deposit: null })
    const [unitId = ''] = other.unitIds
    const tell = async () => {
      const eventId = await house.inHouse((trx) =>
        emit(trx, unitDiscrepancyDetected, {
          propertyId: other.propertyId,
          id: unitId,
          version: 1,
          data: { unitId, name: '1', condition: 'clean', occupancy: 'vacant', ready: true, discrepancy: 'skip' },
        }),
      )
      await house.inHouse((trx) => openFromEvent(trx, eventId))
      await house.inHouse((trx) => openFromEvent(trx, eventId))
    }
    await tell()
    await tell()
    await house.inHouse(async (trx) => {
      await lockDayForRoll(trx, other.propertyId, other.today)
      await rollBusinessDay(trx, other.propertyId, other.today, {})
    })
    await tell()
    const days = await house.inHouse((trx) =>
      sql<{ sourceKey: string; occurrences: number; unitId: string }>(
        trx,
        `select source_key, occurrences, unit_id from issue where source_key like ? order by number`,
        [`discrepancy:${unitId}:%`],
      ),
    )
    expect(days.map((one) => [one.occurrences, one.unitId])).to.deep.equal([
      [2, unitId],
      [1, unitId],
    ])
    expect(days[0]?.sourceKey).to.equal(`discrepancy:${unitId}:${other.today}`)

    const bookingId = await makeConfirmed(house, { from: 9 })
    const [stay] = await house.inHouse((trx) =>
      sql<{ id: string; guestId: string | null }>(
        trx,
        `select id, primary_guest_id as guest_id from reservation where booking_id = ?`,
        [bookingId],
      ),
    )
    const id = stay?.id ?? ''
    const eventId = await house.inHouse((trx) =>
      emit(trx, assignmentStranded, {
        propertyId: house.propertyId,
        id,
        version: 1,
        data: { unitPoolId: null, reservationIds: [id], from: house.day(9), to: house.day(10) },
      }),
    )
    await house.inHouse((trx) => openFromEvent(trx, eventId))
    const [lost] = await ofKey(`reservation:${id}`)
    expect(await read(lost?.id ?? '')).to.include({ reservationId: id, guestId: stay?.guestId, priority: 'high' })
  })

  it('do not open for what the house has switched off', async () => {
    const switched = await owner.send('PATCH', `properties/${house.propertyId}/settings`, {
      issues: { automaticOff: ['unit.discrepancy_detected'] },
    })
    expect(switched.status, JSON.stringify(switched.body)).to.equal(200)
    const [unitId = ''] = house.unitIds
    const eventId = await house.inHouse((trx) =>
      emit(trx, unitDiscrepancyDetected, {
        propertyId: house.propertyId,
        id: unitId,
        version: 1,
        data: { unitId, name: '1', condition: 'clean', occupancy: 'vacant', ready: true, discrepancy: 'skip' },
      }),
    )
    await house.inHouse((trx) => openFromEvent(trx, eventId))
    expect(await ofKey(`discrepancy:${unitId}:${house.today}`)).to.deep.equal([])
  })
})
