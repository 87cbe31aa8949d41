import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays, todayIn } from '../../config/time.ts'
import { beginTransfer, noteConnection, pixLine, settleSent, takePix } from '../../db/cash/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { checksOf, closedGates, readHealth } from '../../db/jobs/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { expirePixChargeJob, sendTransferJob, syncPixJob } from '../../jobs/cash.ts'
import { sandboxBank } from '../../workers/pix/sandbox.ts'
import { brCodeOf } from '../../db/cash/rules/br-code.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import type { House } from '../support/factories.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'

const key = '123e4567-e12b-42d1-a456-426655440000'
const credentials = { clientId: 'pousada', clientSecret: 'right' }

describe('Pix through the bank of a house', function () {
  this.timeout(180_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let finance: Desk
  let bankId: string
  let expense: string

  const send = (desk: Desk, method: string, path: string, body: object = {}) =>
    desk.send(method, `cash/${path}`, body, { idempotencyKey: randomUUID() })
  const rows = <Row = Parsed>(text: string, values: Record<string, unknown> = {}): Promise<Row[]> =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, bankId, ...values })
  const balance = async () => done(await owner.get(`cash/accounts/${bankId}`)).balance as number
  const charge = async (body: object, status = 201): Promise<Parsed> =>
    done(await send(finance, 'POST', 'pix/charges', { kind: 'immediate', cashAccountId: bankId, ...body }), status)
  const read = async (id: string): Promise<Parsed> => done(await finance.get(`cash/pix/charges/${id}`))
  const hook = async () => {
    const [found] = await rows<{ url: string }>(
      `select h.state ->> 'url' as url from sandbox_object h join pix_connection c on h.account_ref = cast(c.id as text)
       where h.kind = 'pix_hook' and c.cash_account_id = :bankId`,
    )
    return new URL(found?.url ?? '').pathname
  }
  /** Money that the bank has for a charge by now. */
  const comes = async (txid: string, count = 1): Promise<string[]> => {
    let found: { id: string }[] = []
    await until(async () => {
      found = await rows<{ id: string }>(
        `select our_id as id from sandbox_object where kind = 'pix' and state ->> 'txid' = :txid and (state ->> 'at')::timestamptz <= clock_timestamp() order by 1`,
        { txid },
      )
      return found.length === count
    })
    return found.map(({ id }) => id)
  }
  const call = async (ids: readonly string[], path?: string) =>
    (
      await fetch(`${world.baseUrl}${path ?? (await hook())}/pix`, {
        method: 'POST',
        body: JSON.stringify({ pix: ids.map((endToEndId) => ({ endToEndId, valor: '1.00', horario: 'now' })) }),
      })
    ).status
  const movementsOf = (endToEndId: string) =>
    rows(`select id, amount, kind from cash_movement where tenant_id = :tenantId and end_to_end_id = :endToEndId`, {
      endToEndId,
    })

  before(async () => {
    house = await makeHouse({ units: 4 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
    finance = await openDesk(world, house, 'finance')
    bankId = done(
      await send(finance, 'POST', 'accounts', {
        kind: 'bank',
        code: 'PIX',
        name: 'Banco',
        propertyId: house.propertyId,
        opening: { amount: 1_000_000, on: house.today },
      }),
      201,
    ).id as string
    const [found] = await house.inHouse((trx) =>
      sql<{ id: string }>(trx, `select id from account where code = '6.1.10'`),
    )
    expense = found?.id ?? ''
  })
  beforeEach(() => forgetLimits(world))

  it('is set up by the owner, told by mail, and proven with the bank', async () => {
    const body = { keys: [{ type: 'random', key }], connection: { provider: 'sandbox', credentials } }
    expect((await send(finance, 'PUT', `accounts/${bankId}/pix`, body)).status).to.equal(403)
    expect((await charge({ amount: 100 }, 422)).code).to.equal('pix_not_ready')
    const wrong = { ...body, keys: [{ type: 'cpf', key: '52998224726' }] }
    expect((await send(owner, 'PUT', `accounts/${bankId}/pix`, wrong)).status).to.equal(400)
    const refused = {
      ...body,
      connection: { provider: 'sandbox', credentials: { ...credentials, clientSecret: 'wrong' } },
    }
    done(await send(owner, 'PUT', `accounts/${bankId}/pix`, refused))
    await world.drain()
    expect(done(await owner.get(`cash/accounts/${bankId}`)).pix).to.include({ status: 'failing' })
    const set = done(await send(owner, 'PUT', `accounts/${bankId}/pix`, body))
    expect(set).to.include({ status: 'connecting', provider: 'sandbox' })
    expect(JSON.stringify(set)).not.to.include('right')
    await world.drain()
    const { pix } = done(await owner.get(`cash/accounts/${bankId}`))
    expect(pix).to.include({ status: 'active' })
    expect(pix.keys.map((one: Parsed) => one.key)).to.deep.equal([key])
    const mails = await rows(
      `select m.id from user_mail m join notice n on n.id = m.reference_id where n.tenant_id = :tenantId and m.kind = 'pix_connection_changed'`,
    )
    expect(mails.length).to.be.greaterThanOrEqual(4)
  })

  it('asks by a static code at once, and by a charge once the bank has made it', async () => {
    const fixed = await charge({ kind: 'static', amount: 19_990, text: 'Depósito' })
    expect(fixed).to.include({ status: 'active', paid: 0 })
    expect(fixed.txid).to.match(/^[a-z0-9]{25}$/)
    expect(fixed.brCode).to.match(/^000201.*6304[0-9A-F]{4}$/)
    const due = { kind: 'due_date', amount: 500, dueOn: house.day(5) }
    expect((await charge(due, 400)).errors[0].field).to.equal('payer')
    const dated = await charge({ ...due, payer: { name: 'Maria', document: '52998224725' }, fineRate: 200 })
    expect(dated).to.include({ status: 'creating', brCode: null, daysAfterDue: 30 })
    expect(dated.payer).to.deep.equal({ name: 'Maria', document: dated.payer.document })
    await world.drain()
    expect(await read(dated.id)).to.include({ status: 'active' })
    expect((await read(dated.id)).brCode).to.include('pix.sandbox.example')
    const refused = await charge({ amount: 100, text: 'charge_refused' })
    await world.drain()
    expect(await read(refused.id)).to.include({ status: 'failed' })
    const before = await balance()
    // A static code may be paid many times, by any amount.
    for (const amount of [19_990, 5])
      await house.inHouse((trx) =>
        takePix(trx, bankId, {
          endToEndId: `E${randomUUID().replaceAll('-', '').slice(0, 31)}`,
          txid: fixed.txid,
          amount,
          at: new Date(),
          payerName: 'Ana',
          payerDocument: '52998224725',
          text: null,
          returns: [],
        }),
      )
    expect(await read(fixed.id)).to.include({ status: 'active', paid: 19_995, receivedCount: 2 })
    expect(await balance()).to.equal(before + 19_995)
    const cancelled = done(await send(owner, 'POST', `pix/charges/${fixed.id}/cancel`))
    expect(cancelled.status).to.equal('cancelled')
  })

  it('books a Pix once, whatever tells of it and how often', async () => {
    const before = await balance()
    const made = await charge({ amount: 12_345, text: 'pays' })
    await world.drain()
    const [id = ''] = await comes(made.txid)
    const address = await hook()
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => call([id], address))))).to.deep.equal(
      new Set([200]),
    )
    expect(await call([id], '/api/callbacks/pix/forged')).to.equal(401)
    await house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: house.tenantId, cashAccountId: bankId }))
    await world.drain()
    expect(await call([id], address)).to.equal(200)
    await world.drain()
    expect(await movementsOf(id)).to.have.length(1)
    expect(await balance()).to.equal(before + 12_345)
    const paid = await read(made.id)
    expect(paid).to.include({ status: 'paid', paid: 12_345, receivedCount: 1 })
    expect(paid.receipts[0]).to.include({ endToEndId: id, claimedByType: 'receipt', returned: 0 })
    // An id that the bank does not know brings nothing.
    await call(['E00000000000000000000000000000000'], address)
    await world.drain()
    expect(await balance()).to.equal(before + 12_345)
  })

  it('finds what no call has told, and money that came twice or too late', async () => {
    const before = await balance()
    const [lost, twice, late] = [
      await charge({ amount: 100, text: 'callback_lost' }),
      await charge({ amount: 200, text: 'pays_twice' }),
      await charge({ amount: 300, text: 'pays' }),
    ]
    await world.drain()
    const ids = [await comes(lost.txid), await comes(twice.txid, 2), await comes(late.txid)].flat()
    await rows(`update pix_charge set ends_at = now() where id = :id returning id`, { id: late.id })
    // The clock ends a charge that was paid a moment ago: the bank knows better.
    await house.inHouse((trx) => enqueue(trx, expirePixChargeJob, { tenantId: house.tenantId, pixChargeId: late.id }))
    await world.drain()
    expect(await read(late.id)).to.include({ status: 'paid', paid: 300 })
    await house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: house.tenantId, cashAccountId: bankId }))
    await world.drain()
    expect(await read(twice.id)).to.include({ status: 'paid', paid: 400, receivedCount: 2 })
    expect(await read(lost.id)).to.include({ status: 'paid', paid: 100 })
    for (const id of ids) expect(await movementsOf(id)).to.have.length(1)
    expect(await balance()).to.equal(before + 800)
    const never = await charge({ amount: 100, text: 'never' })
    await world.drain()
    done(await send(owner, 'POST', `pix/charges/${never.id}/cancel`))
    await world.drain()
    expect(await read(never.id)).to.include({ status: 'cancelled' })
    const raced = await charge({ amount: 100, text: 'callback_lost' })
    await world.drain()
    await comes(raced.txid)
    expect(done(await send(owner, 'POST', `pix/charges/${raced.id}/cancel`)).status).to.equal('cancelling')
    await world.drain()
    expect(await read(raced.id)).to.include({ status: 'paid', paid: 100 })
  })

  it('pays a booking, which has one live charge', async () => {
    const targetId = await makeHold(house, { from: 20 })
    const asked = { amount: 5_000, targetType: 'booking', targetId, text: 'pays' }
    const made = await charge(asked)
    expect((await charge(asked, 200)).id).to.equal(made.id)
    expect((await charge({ ...asked, amount: 6_000 }, 409)).code).to.equal('charge_exists')
    await world.drain()
    const ids = await comes(made.txid)
    await call(ids)
    await world.drain()
    const paid = await read(made.id)
    expect(paid).to.include({ status: 'paid' })
    expect(paid.receipts[0]).to.include({ claimedByType: 'payment' })
    const [payment] = await rows(`select method, amount, allocated_amount from payment where id = :id`, {
      id: paid.receipts[0].claimedById,
    })
    expect(payment).to.deep.equal({ method: 'pix', amount: 5_000, allocatedAmount: 5_000 })
    expect((await charge({ amount: 1, targetType: 'folio', targetId: randomUUID() }, 422)).code).to.equal(
      'reference_not_found',
    )
  })

  /** A payment of a booking by Pix, through the bank. */
  const paidByPix = async (from: number): Promise<{ targetId: string; paymentId: string; endToEndId: string }> => {
    const targetId = await makeHold(house, { from })
    const made = await charge({ amount: 5_000, targetType: 'booking', targetId, text: 'pays' })
    await world.drain()
    const [endToEndId = ''] = await comes(made.txid)
    await call([endToEndId])
    await world.drain()
    return { targetId, paymentId: (await read(made.id)).receipts[0].claimedById as string, endToEndId }
  }
  const refund = async (paymentId: string, body: object) => {
    const { status, body: said } = await owner.send(
      'POST',
      `payments/${paymentId}/refunds`,
      { reason: 'guest_request', ...body },
      { idempotencyKey: randomUUID() },
    )
    return { status, said }
  }

  it('of a payment goes back by the bank, in parts and never twice', async () => {
    const before = await balance()
    const { paymentId } = await paidByPix(24)
    expect((await refund(paymentId, { via: 'manual' })).said.code).to.equal('refund_through_gateway')
    expect((await refund(paymentId, { via: 'gateway' })).said.code).to.equal('method_unavailable')
    const asked = await Promise.all(Array.from({ length: 5 }, () => refund(paymentId, { amount: 2_000 })))
    expect(asked.map(({ status, said }) => String(said.code ?? status)).toSorted()).to.deep.equal([
      '201',
      '201',
      'amount_exceeds_refundable',
      'amount_exceeds_refundable',
      'amount_exceeds_refundable',
    ])
    expect(asked.find(({ status }) => status === 201)?.said).to.include({ via: 'pix_return', status: 'requested' })
    expect(done(await owner.get(`payments/${paymentId}`))).to.include({ refundReserved: 4_000, refundedAmount: 0 })
    await world.drain()
    const payment = done(await owner.get(`payments/${paymentId}`))
    expect(payment).to.include({ refundReserved: 4_000, refundedAmount: 4_000, allocatedAmount: 1_000 })
    expect(payment.refunds.map(({ via, status }: Parsed) => [via, status])).to.deep.equal([
      ['pix_return', 'succeeded'],
      ['pix_return', 'succeeded'],
    ])
    expect(await balance()).to.equal(before + 1_000)
  })

  it('that the bank does not send back is free again, calls for a person, and goes back by hand', async () => {
    const before = await balance()
    const { paymentId, endToEndId } = await paidByPix(26)
    await rows(`delete from sandbox_object where kind = 'pix' and our_id = :endToEndId`, { endToEndId })
    const asked = await refund(paymentId, { via: 'pix_return' })
    expect(asked.status, JSON.stringify(asked.said)).to.equal(201)
    await world.drain()
    expect(done(await owner.get(`payments/refunds/${asked.said.id}`))).to.deep.include({
      status: 'failed',
      failure: { code: 'other', message: 'There is no such Pix' },
    })
    expect(done(await owner.get(`payments/${paymentId}`))).to.include({ refundReserved: 0, allocatedAmount: 0 })
    const open = done(await owner.get('payments/exceptions?status=open&kind=refund_failed'))
    expect(open.data.map(({ subjectId }: Parsed) => subjectId)).to.include(asked.said.id)
    const byHand = await refund(paymentId, { via: 'manual' })
    expect(byHand.said, JSON.stringify(byHand.said)).to.include({ via: 'manual', status: 'succeeded' })
    expect(await balance()).to.equal(before)
  })

  it('for a booking that was cancelled goes back in full by itself', async () => {
    const before = await balance()
    const targetId = await makeHold(house, { from: 28 })
    const made = await charge({ amount: 5_000, targetType: 'booking', targetId, text: 'pays' })
    await world.drain()
    const ids = await comes(made.txid)
    await rows(
      `update reservation set status = 'cancelled', cancelled_at = now(), cancel_reason = 'changed_plans' where booking_id = :targetId`,
      { targetId },
    )
    await rows(
      `update booking set hold_kind = null, hold_expires_at = null, hold_cap_at = null, hold_version = null, ended_at = now() where id = :targetId`,
      { targetId },
    )
    await call(ids)
    await world.drain()
    const payment = done(await owner.get(`payments/${(await read(made.id)).receipts[0].claimedById}`))
    expect(payment).to.include({ allocatedAmount: 0, refundedAmount: 5_000 })
    expect(payment.refunds[0]).to.include({ via: 'pix_return', reason: 'late_payment', status: 'succeeded' })
    expect(await balance()).to.equal(before)
  })

  it('goes back once, by a refund or by the bank itself, and the books agree', async () => {
    const before = await balance()
    const [mine, theirs] = [
      await charge({ amount: 4_000, text: 'pays' }),
      await charge({ amount: 3_000, text: 'bank_return' }),
    ]
    await world.drain()
    await call([...(await comes(mine.txid)), ...(await comes(theirs.txid))])
    await world.drain()
    const returned = await read(theirs.id)
    expect(returned.receipts[0]).to.include({ amount: 3_000, returned: 3_000 })
    expect(await balance()).to.equal(before + 4_000)
    const [receipt] = (await read(mine.id)).receipts as Parsed[]
    const back = await Promise.all(
      Array.from({ length: 20 }, () =>
        finance.send(
          'POST',
          `accounts-receivable/receipts/${receipt?.claimedById}/refund`,
          { via: 'pix_return', amount: 4_000, reason: 'Sent twice' },
          { idempotencyKey: randomUUID() },
        ),
      ),
    )
    expect(back.filter(({ status }) => status < 300)).to.have.length(1)
    await world.drain()
    expect((await read(mine.id)).receipts[0]).to.include({ returned: 4_000 })
    expect(await balance()).to.equal(before)
    const made = await rows(
      `select r.status, r.origin from pix_return r join pix_receipt p on p.id = r.pix_receipt_id
       where r.tenant_id = :tenantId and p.claimed_by_type = 'receipt' order by r.origin`,
    )
    expect(made).to.deep.equal([
      { status: 'succeeded', origin: 'bank' },
      { status: 'succeeded', origin: 'request' },
    ])
    done(await finance.send('POST', 'financial/integrity-checks/run', { bookId: house.bookId }), 201)
    await world.drain()
    const { data } = done(await finance.get(`financial/integrity-checks?bookId=${house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })

  it('sends a Pix once: refused, answered, lost, and killed on its way', async () => {
    const before = await balance()
    const code = brCodeOf({ pix: { key, text: '' }, amount: 700, name: 'Loja', city: 'RIO', txid: '***' })
    const ask = async (purpose: string, more: object = {}) =>
      send(finance, 'POST', 'transfers', {
        fromAccountId: bankId,
        method: 'pix',
        amount: 700,
        purpose,
        accountId: expense,
        payee: { brCode: code },
        ...more,
      })
    const bad = await ask('x', { payee: { brCode: `${code.slice(0, -1)}0` } })
    expect([bad.status, bad.body.code]).to.deep.equal([422, 'br_code_invalid'])
    expect((await ask('x', { amount: 701 })).body.code).to.equal('br_code_invalid')
    const approved = async (purpose: string): Promise<string> => {
      const { id } = done(await ask(purpose), 201)
      expect((await send(finance, 'POST', `transfers/${id}/approve`)).body.code).to.equal('self_approval')
      done(await send(owner, 'POST', `transfers/${id}/approve`))
      return id
    }
    const transfer = async (id: string): Promise<Parsed> => done(await owner.get(`cash/transfers/${id}`))
    const paid = await approved('Flowers')
    const refused = await approved('send_refused')
    const lost = await approved('send_unknown_paid')
    await world.drain()
    expect(await transfer(paid)).to.include({ status: 'completed' })
    expect(await transfer(refused)).to.include({ status: 'failed' })
    expect(await transfer(lost)).to.include({ status: 'unknown' })
    await rows(`update cash_transfer set next_read_at = now() where id = :id returning id`, { id: lost })
    await world.drain({ kinds: ['payments.sweep-pix', 'payments.read-transfer'] })
    await house.inHouse((trx) => enqueue(trx, sendTransferJob, { tenantId: house.tenantId, cashTransferId: lost }))
    await world.drain()
    expect(await transfer(lost)).to.include({ status: 'completed' })
    expect(await balance()).to.equal(before - 1_400)

    // A worker begins to send, the bank does it, and the worker dies before it has written the answer.
    const { id: killed } = done(await ask('Killed'), 201)
    await house.inHouse((trx) =>
      sql(trx, `update pix_connection set status = 'active' where cash_account_id = ?`, [bankId]),
    )
    await rows(
      `update cash_transfer set status = 'approved', approved_by = gen_random_uuid(), approved_at = now() where id = :id returning id`,
      {
        id: killed,
      },
    )
    const begun = await house.inHouse((trx) => beginTransfer(trx, killed))
    expect(begun?.mode).to.equal('send')
    const line = await house.inHouse((trx) => pixLine(trx, bankId))
    await sandboxBank.send({ line: line!, signal: AbortSignal.timeout(5_000) }, begun!)
    for (let round = 0; round < 3; round += 1) {
      await house.inHouse((trx) => enqueue(trx, sendTransferJob, { tenantId: house.tenantId, cashTransferId: killed }))
      await world.drain()
    }
    expect(await transfer(killed)).to.include({ status: 'completed' })
    expect(await balance()).to.equal(before - 2_100)
    const sent = await rows(`select id from sandbox_object where kind = 'pix_sent' and our_id = :id`, {
      id: killed.replaceAll('-', ''),
    })
    expect(sent).to.have.length(1)

    // The bank's day may be ahead of the house's: it is booked today.
    const { id: ahead } = done(await ask('Ahead'), 201)
    done(await send(owner, 'POST', `transfers/${ahead}/approve`))
    const today = todayIn('America/Sao_Paulo')
    await house.inHouse(async (trx) => {
      await beginTransfer(trx, ahead)
      await settleSent(trx, ahead, { status: 'done', endToEndId: null, fee: 0, on: addDays(today, 1) })
    })
    expect(await transfer(ahead)).to.include({ status: 'completed', sentOn: today })
    expect(await balance()).to.equal(before - 2_800)
  })

  it('books the fee of the bank for money that another module sends, and the books agree', async () => {
    const made = await charge({ amount: 2_500, text: 'pays' })
    await world.drain()
    await call(await comes(made.txid))
    await world.drain()
    const before = await balance()
    const receiptId = (await read(made.id)).receipts[0].claimedById as string
    const asked = await finance.send(
      'POST',
      `accounts-receivable/receipts/${receiptId}/refund`,
      {
        via: 'transfer',
        amount: 2_000,
        reason: 'send_fee',
        payee: { keyType: 'random', key, name: 'Maria', document: '52998224725' },
      },
      { idempotencyKey: randomUUID() },
    )
    expect(asked.status, JSON.stringify(asked.body)).to.be.below(300)
    const [transfer] = await rows<{ id: string }>(
      `select id from cash_transfer where tenant_id = :tenantId and source_type = 'receipt_refund'`,
    )
    done(await send(owner, 'POST', `transfers/${transfer?.id}/approve`))
    await world.drain()
    expect(done(await owner.get(`cash/transfers/${transfer?.id}`))).to.include({ status: 'completed', fee: 190 })
    expect(await balance()).to.equal(before - 2_190)
    const [fees] = await rows<{ sum: string }>(
      `select sum(l.debit - l.credit) as sum from journal_line l join account a on a.id = l.account_id where l.tenant_id = :tenantId and a.role = 'bank_fees'`,
    )
    expect(Number(fees?.sum)).to.equal(190)
    done(await finance.send('POST', 'financial/integrity-checks/run', { bookId: house.bookId }), 201)
    await world.drain()
    const { data } = done(await finance.get(`financial/integrity-checks?bookId=${house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })

  it('waits while the bank refuses the credentials of the house, which health names, and is sent once they are right', async () => {
    const body = { fromAccountId: bankId, method: 'pix', amount: 300, accountId: expense, purpose: 'Waits' }
    const code = brCodeOf({ pix: { key, text: '' }, amount: 300, name: 'Loja', city: 'RIO', txid: '***' })
    const { id } = done(await send(finance, 'POST', 'transfers', { ...body, payee: { brCode: code } }), 201)
    done(await send(owner, 'POST', `transfers/${id}/approve`))
    const connect = async (clientSecret: string) => {
      const connection = { provider: 'sandbox', credentials: { ...credentials, clientSecret } }
      done(await send(owner, 'PUT', `accounts/${bankId}/pix`, { keys: [{ type: 'random', key }], connection }))
    }
    await connect('wrong')
    await world.drain()
    expect(done(await owner.get(`cash/transfers/${id}`)).status).to.be.oneOf(['approved', 'sending'])
    const [connection] = await rows<{ id: string }>(`select id from pix_connection where cash_account_id = :bankId`)
    const gate = `sandbox_pix:${connection?.id ?? ''}`
    const named = async () => {
      const checks = checksOf(await inPlatform(readHealth), { isConnected: true, memoryShare: null })
      return checks.some(({ name, ok, detail }) => name === 'credentials' && !ok && detail.includes(gate))
    }
    expect(await named()).to.equal(true)
    const counted = (await inPlatform(closedGates)).find(({ provider }) => provider === 'sandbox_pix')
    expect(counted?.credentials).to.equal(1)
    await connect('right')
    await world.drain()
    await rows(`update provider_gate set closed_until = now() where gate = :gate returning gate`, { gate })
    await world.drain({ aheadMs: 600_000, kinds: ['payments.send-transfer'] })
    expect(done(await owner.get(`cash/transfers/${id}`))).to.include({ status: 'completed' })
    expect(await named()).to.equal(false)
  })

  it('is failing when the bank refuses for a quarter of an hour, and reads on', async () => {
    await house.inHouse((trx) => noteConnection(trx, bankId, 'credentials_refused'))
    expect(done(await owner.get(`cash/accounts/${bankId}`)).pix).to.include({ status: 'active' })
    await rows(
      `update pix_connection set failing_since = now() - interval '16 minutes' where cash_account_id = :bankId returning id`,
    )
    await house.inHouse((trx) => noteConnection(trx, bankId, 'credentials_refused'))
    expect(done(await owner.get(`cash/accounts/${bankId}`)).pix).to.include({ status: 'failing' })
    expect((await charge({ amount: 100 }, 422)).code).to.equal('pix_not_ready')
    await house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: house.tenantId, cashAccountId: bankId }))
    await world.drain()
    expect(done(await owner.get(`cash/accounts/${bankId}`)).pix).to.include({ status: 'active' })
  })
})
