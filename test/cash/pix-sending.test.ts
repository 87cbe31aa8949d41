import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { addDays, todayIn } from '../../config/time.ts'
import { beginTransfer, pixLine, settleSent, takePix } from '../../db/cash/index.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { checksOf, closedGates, readHealth } from '../../db/jobs/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sendTransferJob } from '../../jobs/cash.ts'
import { sandboxBank } from '../../workers/pix/sandbox.ts'
import { brCodeOf } from '../../config/br-code.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { credentials, key, openPix } from './pix-desk.ts'

describe('A Pix that the house sends', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPix>>
  before(async () => {
    a = await openPix(world)
    await a.connect()
  })
  beforeEach(() => forgetLimits(world))

  it('sends a Pix once: refused, answered, lost, and killed on its way', async () => {
    const before = await a.balance()
    const code = brCodeOf({ pix: { key, text: '' }, amount: 700, name: 'Loja', city: 'RIO', txid: '***' })
    const ask = async (purpose: string, more: object = {}) =>
      a.send(a.finance, 'POST', 'transfers', {
        fromAccountId: a.bankId,
        method: 'pix',
        amount: 700,
        purpose,
        accountId: a.expense,
        payee: { brCode: code },
        ...more,
      })
    const bad = await ask('x', { payee: { brCode: `${code.slice(0, -1)}0` } })
    expect([bad.status, bad.body.code]).to.deep.equal([422, 'br_code_invalid'])
    expect((await ask('x', { amount: 701 })).body.code).to.equal('br_code_invalid')
    // The approver sees the name inside the code, whatever the one who asks has called the payee.
    const shown = done(await ask('Named', { payee: { brCode: code, name: 'Another shop' } }), 201)
    expect(shown.payee).to.include({ name: 'Another shop' })
    expect(shown.payeeCode).to.deep.equal({ name: 'Loja', amount: 700 })
    for (const [payee, field] of [
      [{ keyType: 'cpf', key: '529.982.247-26' }, 'payee.key'],
      [{ keyType: 'random', key: 'x' }, 'payee.key'],
    ] as const) {
      const { status, body } = await ask('x', { payee })
      expect([status, body.errors[0].field]).to.deep.equal([400, field])
    }
    const typed = done(await ask('Typed', { payee: { keyType: 'cpf', key: '529.982.247-25' } }), 201)
    expect(typed).to.deep.include({ payee: { keyType: 'cpf', key: '52998224725' }, payeeCode: null })
    for (const { id } of [shown, typed])
      done(await a.send(a.finance, 'POST', `transfers/${id}/cancel`, { reason: 'Not needed' }))
    const approved = async (purpose: string): Promise<string> => {
      const { id } = done(await ask(purpose), 201)
      expect((await a.send(a.finance, 'POST', `transfers/${id}/approve`)).body.code).to.equal('self_approval')
      done(await a.send(a.owner, 'POST', `transfers/${id}/approve`))
      return id
    }
    const transfer = async (id: string): Promise<Parsed> => done(await a.owner.get(`cash/transfers/${id}`))
    const paid = await approved('Flowers')
    const refused = await approved('send_refused')
    const lost = await approved('send_unknown_paid')
    await world.drain()
    expect(await transfer(paid)).to.include({ status: 'completed' })
    expect(await transfer(refused)).to.include({ status: 'failed' })
    expect(await transfer(lost)).to.include({ status: 'unknown' })
    for (const [id, outcome] of [
      [paid, 'known'],
      [refused, 'refused'],
      [lost, 'unknown'],
    ] as const) {
      const { attempts } = await transfer(id)
      expect(attempts.map((one: Parsed) => [one.operation, one.tries, one.outcome])).to.deep.equal([
        ['send', 1, outcome],
      ])
    }
    await a.rows(`update cash_transfer set next_read_at = now() where id = :id returning id`, { id: lost })
    await world.drain({ kinds: ['payments.sweep-pix', 'payments.read-transfer'] })
    await a.house.inHouse((trx) => enqueue(trx, sendTransferJob, { tenantId: a.house.tenantId, cashTransferId: lost }))
    await world.drain()
    expect(await transfer(lost)).to.include({ status: 'completed' })
    expect(await a.balance()).to.equal(before - 1_400)

    // A bank that says nothing for days: people are told to ask it, once, and its word counts when it comes.
    const mute = await approved('Nothing is heard')
    await a.house.inHouse((trx) => beginTransfer(trx, mute))
    for (let read = 0; read < 10; read += 1)
      await a.house.inHouse((trx) => settleSent(trx, mute, { status: 'pending' }))
    const told = await a.rows<{ money: string; key: string; mails: number }>(
      `select n.money, n.key, (select count(*)::int from user_mail m where m.reference_id = n.id) as mails from notice n
       where n.tenant_id = :tenantId and n.kind = 'transfer_attention'`,
    )
    expect(told).to.have.length(1)
    expect(told[0]).to.include({ money: '7.00 BRL' })
    expect(told[0]?.mails).to.be.above(1)
    await world.drain()
    await a.house.inHouse((trx) =>
      settleSent(trx, mute, { status: 'failed', failure: { code: 'not_sent', message: 'It never came' } }),
    )
    expect(await transfer(mute)).to.include({ status: 'failed' })

    // A worker begins to send, the bank does it, and the worker dies before it has written the answer.
    const { id: killed } = done(await ask('Killed'), 201)
    await a.house.inHouse((trx) =>
      sql(trx, `update pix_connection set status = 'active' where cash_account_id = ?`, [a.bankId]),
    )
    await a.rows(
      `update cash_transfer set status = 'approved', approved_by = gen_random_uuid(), approved_at = now() where id = :id returning id`,
      {
        id: killed,
      },
    )
    const begun = await a.house.inHouse((trx) => beginTransfer(trx, killed))
    expect(begun?.mode).to.equal('send')
    const line = await a.house.inHouse((trx) => pixLine(trx, a.bankId))
    await sandboxBank.send({ line: line!, signal: AbortSignal.timeout(5_000) }, begun!)
    for (let round = 0; round < 3; round += 1) {
      await a.house.inHouse((trx) =>
        enqueue(trx, sendTransferJob, { tenantId: a.house.tenantId, cashTransferId: killed }),
      )
      await world.drain()
    }
    expect(await transfer(killed)).to.include({ status: 'completed' })
    expect(await a.balance()).to.equal(before - 2_100)
    const sent = await a.rows(`select id from sandbox_object where kind = 'pix_sent' and our_id = :id`, {
      id: killed.replaceAll('-', ''),
    })
    expect(sent).to.have.length(1)

    // The bank's day may be ahead of the house's: it is booked today.
    const { id: ahead } = done(await ask('Ahead'), 201)
    done(await a.send(a.owner, 'POST', `transfers/${ahead}/approve`))
    const today = todayIn('America/Sao_Paulo')
    await a.house.inHouse(async (trx) => {
      await beginTransfer(trx, ahead)
      await settleSent(trx, ahead, { status: 'done', endToEndId: null, fee: 0, on: addDays(today, 1) })
    })
    expect(await transfer(ahead)).to.include({ status: 'completed', sentOn: today })
    expect(await a.balance()).to.equal(before - 2_800)
  })

  it('to another account of the house arrives there once, whoever tells of it first', async () => {
    const before = await a.balance()
    const account = (code: string) =>
      a.send(a.finance, 'POST', 'accounts', { kind: 'bank', code, name: code, propertyId: a.house.propertyId })
    const { id: toAccountId } = done(await account('OUTRO'), 201)
    const ask = { fromAccountId: a.bankId, toAccountId, method: 'pix', amount: 900, purpose: 'Supply' }
    const heard = (endToEndId: string) => ({
      endToEndId,
      txid: null,
      amount: 900,
      at: new Date(),
      payerName: 'Pousada',
      payerDocument: null,
      text: null,
      returns: [],
    })
    const take = (endToEndId: string) => a.house.inHouse((trx) => takePix(trx, toAccountId, heard(endToEndId)))
    const { id } = done(await a.send(a.finance, 'POST', 'transfers', ask), 201)
    done(await a.send(a.owner, 'POST', `transfers/${id}/approve`))
    await a.house.inHouse((trx) => beginTransfer(trx, id))
    expect(await take('E2E-OWN')).to.equal('later')
    const today = todayIn('America/Sao_Paulo')
    const answer = { status: 'done' as const, endToEndId: 'E2E-OWN', fee: 0, on: today }
    await a.house.inHouse((trx) => settleSent(trx, id, answer))
    for (const _ of [1, 2]) expect(await take('E2E-OWN')).to.equal('taken')
    expect(done(await a.owner.get(`cash/accounts/${toAccountId}`)).balance).to.equal(900)
    expect(await take('E2E-OTHER')).to.equal('taken')
    expect(done(await a.owner.get(`cash/accounts/${toAccountId}`)).balance).to.equal(1_800)
    expect(await a.balance()).to.equal(before - 900)
  })

  it('of an account with a connection is heard of until that is ended: the account is not archived before', async () => {
    const kept = done(await a.send(a.finance, 'POST', 'accounts', { kind: 'bank', code: 'FIM', name: 'Fim' }), 201)
    const set = (connection: object | null) =>
      a.send(a.owner, 'PUT', `accounts/${kept.id}/pix`, { keys: [], connection })
    done(await set({ provider: 'sandbox', credentials }))
    const archive = () => a.send(a.finance, 'POST', `accounts/${kept.id}/archive`)
    expect((await archive()).body.code).to.equal('account_not_empty')
    done(await set(null))
    expect((await archive()).status).to.equal(200)
  })

  it('books the fee of the bank for money that another module sends, and the books agree', async () => {
    const made = await a.charge({ amount: 2_500, text: 'pays' })
    await world.drain()
    await a.call(await a.comes(made.txid))
    await world.drain()
    const before = await a.balance()
    const receiptId = (await a.read(made.id)).receipts[0].claimedById as string
    const asked = await a.finance.send(
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
    const [transfer] = await a.rows<{ id: string }>(
      `select id from cash_transfer where tenant_id = :tenantId and source_type = 'receipt_refund'`,
    )
    done(await a.send(a.owner, 'POST', `transfers/${transfer?.id}/approve`))
    await world.drain()
    expect(done(await a.owner.get(`cash/transfers/${transfer?.id}`))).to.include({ status: 'completed', fee: 190 })
    expect(await a.balance()).to.equal(before - 2_190)
    const [fees] = await a.rows<{ sum: string }>(
      `select sum(l.debit - l.credit) as sum from journal_line l join account a on a.id = l.account_id where l.tenant_id = :tenantId and a.role = 'bank_fees'`,
    )
    expect(Number(fees?.sum)).to.equal(190)
    done(await a.finance.send('POST', 'financial/integrity-checks/run', { bookId: a.house.bookId }), 201)
    await world.drain()
    const { data } = done(await a.finance.get(`financial/integrity-checks?bookId=${a.house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })

  it('waits while the bank refuses the credentials of the house, which health names, and is sent once they are right', async () => {
    const body = { fromAccountId: a.bankId, method: 'pix', amount: 300, accountId: a.expense, purpose: 'Waits' }
    const code = brCodeOf({ pix: { key, text: '' }, amount: 300, name: 'Loja', city: 'RIO', txid: '***' })
    const { id } = done(await a.send(a.finance, 'POST', 'transfers', { ...body, payee: { brCode: code } }), 201)
    done(await a.send(a.owner, 'POST', `transfers/${id}/approve`))
    const connect = async (clientSecret: string) => {
      const connection = { provider: 'sandbox', credentials: { ...credentials, clientSecret } }
      done(await a.send(a.owner, 'PUT', `accounts/${a.bankId}/pix`, { keys: [{ type: 'random', key }], connection }))
    }
    await connect('wrong')
    await world.drain()
    expect(done(await a.owner.get(`cash/transfers/${id}`)).status).to.be.oneOf(['approved', 'sending'])
    const [connection] = await a.rows<{ id: string }>(`select id from pix_connection where cash_account_id = :bankId`)
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
    await a.rows(`update provider_gate set closed_until = now() where gate = :gate returning gate`, { gate })
    await world.drain({ aheadMs: 600_000, kinds: ['payments.send-transfer'] })
    expect(done(await a.owner.get(`cash/transfers/${id}`))).to.include({ status: 'completed' })
    expect(await named()).to.equal(false)
  })
})
