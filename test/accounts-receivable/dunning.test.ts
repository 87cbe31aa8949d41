import { expect } from 'chai'
import { beginRun, writeNotices } from '../../db/accounts-receivable/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import type { Parsed } from '../support/client.ts'
import { useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'
import type { Receivables } from './desk.ts'

const step = (level: number, days: number, more: object = {}) => ({
  level,
  days,
  channels: ['email'],
  stopCredit: false,
  ...more,
})
const steps = [step(1, -3), step(2, 5), step(3, 15, { channels: ['email', 'whatsapp'], stopCredit: true })]

describe('reminders', function () {
  this.timeout(120_000)
  const world = useWorld()
  const mail = useMailPeer()
  let a: Receivables

  const never = { quietFrom: '00:00', quietUntil: '00:00' }
  beforeEach(async () => {
    a = await openReceivables(world)
    const propertyId = await a.property()
    await a.rows(
      `update property set settings = jsonb_set(settings, '{messages}', cast(:never as jsonb)) where id = :propertyId`,
      {
        propertyId,
        never: JSON.stringify(never),
      },
    )
    await a.set({ dunning: { enabled: true, steps, minimum: 0 } })
  })

  const start = (body: object = {}) => a.good(a.finance, 'POST', 'dunning-runs', { bookId: a.bookId, ...body })
  const notices = async (runId: string): Promise<Parsed[]> =>
    (await a.good(a.finance, 'GET', `dunning-notices?runId=${runId}&limit=100`)).data
  const pay = (receivableId: string, amount: number) =>
    inTenant(a.house.tenantId, async (trx) => {
      await sql(trx, `update receivable_installment set settled = settled + ? where receivable_id = ?`, [
        amount,
        receivableId,
      ])
      await sql(trx, `update receivable set settled = settled + ? where id = ?`, [amount, receivableId])
    })
  const mails = () => mail.peer.mails

  it('go once for each step, all of a customer in one mail, and put on hold who has come to the last', async () => {
    const customerId = await a.customer({ email: 'contas@mar.example' })
    await a.issued(customerId, [[a.day(-20), 100_000]])
    await a.issued(customerId, [
      [a.day(-6), 30_000],
      [a.day(2), 40_000],
      [a.day(9), 50_000],
    ])
    const { planned } = await start({ dryRun: true })
    expect(planned.map(({ level, amount }: Parsed) => [level, amount])).to.deep.equal([
      [3, 100_000],
      [2, 30_000],
      [1, 40_000],
    ])
    expect(await a.good(a.finance, 'GET', `dunning-runs?bookId=${a.bookId}`)).to.deep.include({ data: [] })
    const { run } = await start()
    expect(run).to.include({ status: 'queued' })
    await world.drain()
    const { data } = await a.good(a.finance, 'GET', `dunning-runs?bookId=${a.bookId}`)
    expect(data[0]).to.include({ id: run.id, status: 'done' })
    expect(data[0].counts).to.deep.equal({ notices: 3 })
    const made = await notices(run.id)
    expect(made.map(({ level, status }) => [level, status])).to.deep.equal([
      [3, 'sent'],
      [2, 'sent'],
      [1, 'sent'],
    ])
    expect(mails()).to.have.length(1)
    expect(JSON.stringify(mails()[0])).to.include('contas@mar.example')
    const [held] = await a.rows<{ onHold: boolean; reason: string }>(
      `select on_hold as "onHold", hold_reason as reason from customer where id = :customerId`,
      { customerId },
    )
    expect(held).to.deep.equal({ onHold: true, reason: 'Reminder of level 3' })
    const events = await a.rows<{ type: string }>(
      `select type from event where tenant_id = :tenantId and (type like 'dunning%' or type = 'customer.credit_held') order by type`,
    )
    expect(events.map(({ type }) => type)).to.deep.equal([
      'customer.credit_held',
      'dunning_notice.sent',
      'dunning_notice.sent',
      'dunning_notice.sent',
      'dunning_run.completed',
    ])

    const again = await a.send(a.finance, 'POST', 'dunning-runs', { bookId: a.bookId })
    expect([again[0], again[1].run.id]).to.deep.equal([200, run.id])
    // The next day: nothing has reached another step.
    await a.rows(`update dunning_run set run_on = run_on - 1 where id = :id`, { id: run.id })
    const next = await start()
    await world.drain()
    expect(await notices(next.run.id)).to.deep.equal([])
    expect(mails()).to.have.length(1)
  })

  it('are not sent for what was paid between run and sending, nor to who is exempt, paused, out of reach or below the minimum', async () => {
    await a.set({ dunning: { minimum: 5_000 } })
    const paid = await a.issued(await a.customer({ email: 'paga@firma.example' }), [[a.day(-6), 10_000]])
    const part = await a.issued(await a.customer({ email: 'parte@firma.example' }), [[a.day(-6), 70_000]])
    const exempt = await a.issued(await a.customer({ exempt: true }), [[a.day(-6), 20_000]])
    const paused = await a.issued(await a.customer(), [[a.day(-6), 30_000]], { pausedUntil: a.day(0) })
    const silent = await a.issued(await a.customer({ email: null }), [[a.day(-6), 40_000]])
    const small = await a.issued(await a.customer(), [[a.day(-6), 4_999]])
    const { run } = await start()
    await world.drain({ kinds: ['messages.run-dunning'] })
    await pay(paid, 10_000)
    await pay(part, 20_000)
    await world.drain()
    const made = await notices(run.id)
    const of = (receivableId: string) => {
      const found = made.find((one) => one.receivableId === receivableId)
      return [found?.status, found?.skipReason]
    }
    expect(of(paid)).to.deep.equal(['skipped', 'settled'])
    expect(of(part)).to.deep.equal(['sent', null])
    expect(of(exempt)).to.deep.equal(['skipped', 'exempt'])
    expect(of(paused)).to.deep.equal(['skipped', 'paused'])
    expect(of(silent)).to.deep.equal(['skipped', 'no_address'])
    expect(of(small)).to.deep.equal(['skipped', 'below_minimum'])
    expect(mails()).to.have.length(1)
    expect(JSON.stringify(mails()[0])).to.include('500,00').and.not.include('700,00')
    const [message] = await a.rows<{ status: string; reason: string }>(
      `select status, reason from message where tenant_id = :tenantId and status <> 'sent' and data->>'dunningRunId' = :id`,
      { id: run.id },
    )
    expect(message).to.deep.equal({ status: 'cancelled', reason: 'settled' })
    // What was skipped is looked at again: the pause is over.
    await a.rows(`update receivable set dunning_paused_until = null where id = :paused`, { paused })
    await a.rows(`update dunning_run set run_on = run_on - 1 where id = :id`, { id: run.id })
    const next = await start()
    await world.drain()
    expect((await notices(next.run.id)).find((one) => one.receivableId === paused)?.status).to.equal('sent')
  })

  it('are not sent for what was dated anew between run and sending, and come when the new day does', async () => {
    const moved = await a.issued(await a.customer({ email: 'adiada@firma.example' }), [[a.day(-6), 10_000]])
    const earlier = await a.issued(await a.customer({ email: 'antes@firma.example' }), [[a.day(-6), 20_000]])
    const { run } = await start()
    await world.drain({ kinds: ['messages.run-dunning'] })
    const move = (id: string, on: string, amount: number) =>
      a.good(a.finance, 'PATCH', `receivables/${id}`, { installments: [{ dueOn: on, amount }] })
    await move(moved, a.day(20), 10_000)
    await move(earlier, a.day(-5), 20_000)
    await world.drain()
    const of = async (runId: string, receivableId: string) => {
      const found = (await notices(runId)).find((one) => one.receivableId === receivableId)
      return [found?.status, found?.skipReason]
    }
    expect(await of(run.id, moved)).to.deep.equal(['skipped', 'rescheduled'])
    expect(await of(run.id, earlier)).to.deep.equal(['sent', null])
    expect(mails()).to.have.length(1)
    await move(moved, a.day(-5), 10_000)
    await a.rows(`update dunning_run set run_on = run_on - 1 where id = :id`, { id: run.id })
    const next = await start()
    await world.drain()
    expect(await of(next.run.id, moved)).to.deep.equal(['sent', null])
  })

  it('are asked for once each by a run that dies between its customers, and those of nobody within reach stand apart', async () => {
    const reached = [await a.customer({ email: 'um@firma.example' }), await a.customer({ email: 'dois@firma.example' })]
    const silent = await a.customer({ email: null })
    for (const customerId of [...reached, silent])
      await a.issued(customerId, [
        [a.day(-6), 10_000],
        [a.day(-7), 20_000],
      ])
    const { run } = await start()
    await inTenant(a.house.tenantId, (trx) => beginRun(trx, run.id))
    const written = () => inTenant(a.house.tenantId, (trx) => writeNotices(trx, run.id))
    await inTenant(a.house.tenantId, async (trx) => {
      await writeNotices(trx, run.id)
      throw new Error('dies')
    }).catch((error: Error) => expect(error.message).to.equal('dies'))
    expect(await written()).to.equal([...reached, silent].toSorted().at(-1))
    expect(await written()).to.equal(null)
    await world.drain()
    const messages = await a.rows<{ customerId: string; status: string }>(
      `select data->>'customerId' as "customerId", status from message where tenant_id = :tenantId and data->>'dunningRunId' = :id order by 1`,
      { id: run.id },
    )
    expect(messages).to.deep.equal(reached.toSorted().map((customerId) => ({ customerId, status: 'sent' })))
    expect(
      (await notices(run.id)).map(({ customerId, status, skipReason }) => [customerId === silent, status, skipReason]),
    ).to.have.deep.members([
      ...Array.from({ length: 4 }, () => [false, 'sent', null]),
      ...Array.from({ length: 2 }, () => [true, 'skipped', 'no_address']),
    ])
    const events = await a.rows(
      `select id from event where tenant_id = :tenantId and type = 'message.queued' and data->>'templateKey' = 'dunning-notice'`,
    )
    expect(events).to.have.length(2)
  })

  it('put on hold those alone who are reminded: nobody out of reach, and nobody who has paid since', async () => {
    const late = a.day(-20)
    const [reached, silent, paying] = [
      await a.customer({ email: 'alcancada@firma.example' }),
      await a.customer({ email: null }),
      await a.customer({ email: 'paga@firma.example' }),
    ]
    const paid = await a.issued(paying, [[late, 30_000]])
    for (const customerId of [reached, silent]) await a.issued(customerId, [[late, 10_000]])
    const { run } = await start()
    await inTenant(a.house.tenantId, (trx) => beginRun(trx, run.id))
    await pay(paid, 30_000)
    await inTenant(a.house.tenantId, (trx) => writeNotices(trx, run.id))
    const held = await a.rows<{ id: string }>(`select id from customer where tenant_id = :tenantId and on_hold`)
    expect(held.map(({ id }) => id)).to.deep.equal([reached])
    await world.drain()
    // The next run reaches them, and holds them then.
    await a.good(a.finance, 'PATCH', `customers/${silent}`, { document: null, email: 'agora@firma.example' })
    await a.rows(`update dunning_run set run_on = run_on - 1 where id = :id`, { id: run.id })
    await start()
    await world.drain()
    expect(await a.good(a.finance, 'GET', `customers/${silent}`)).to.include({
      onHold: true,
      holdReason: 'Reminder of level 3',
    })
  })

  it('start by the clock once a day, only where they are on', async () => {
    const ours = () => a.rows(`select id from dunning_run where book_id = :bookId`).then((rows) => rows.length)
    const [due] = await a.rows<{ due: boolean }>(
      `select extract(isodow from t) <= 5 and extract(hour from t) between 8 and 19 as due from (select now() at time zone 'America/Sao_Paulo' as t) x`,
    )
    await a.set({ dunning: { hour: 8 } })
    const { startDue } = await import('../../db/accounts-receivable/index.ts')
    const tick = async () => {
      const found = await a.rows<{ bookId: string }>(
        `select book_id as "bookId" from books_to_dun() where book_id = :bookId`,
      )
      for (const { bookId } of found) await inTenant(a.house.tenantId, (trx) => startDue(trx, bookId))
      return found.length
    }
    expect(await tick()).to.equal(due?.due ? 1 : 0)
    expect(await ours()).to.equal(due?.due ? 1 : 0)
    expect(await tick()).to.equal(0)
    await a.set({ dunning: { enabled: false } })
    await a.rows(`update dunning_run set run_on = run_on - 1 where book_id = :bookId`)
    expect(await tick()).to.equal(0)
    expect(await a.refused(a.finance, 'POST', 'dunning-runs', { bookId: a.bookId })).to.deep.equal([
      409,
      'invalid_transition',
    ])
  })

  it('of two starts at once are one run', async () => {
    const replies = await Promise.all(
      [1, 2, 3].map(() => a.send(a.finance, 'POST', 'dunning-runs', { bookId: a.bookId })),
    )
    expect(replies.map(([status]) => status).toSorted((one, other) => one - other)).to.deep.equal([200, 200, 201])
    expect(new Set(replies.map(([, { run }]) => run.id)).size).to.equal(1)
  })
})
