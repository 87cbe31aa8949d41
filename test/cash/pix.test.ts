import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { noteConnection, takePix } from '../../db/cash/index.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { expirePixChargeJob, syncPixJob } from '../../jobs/cash.ts'
import { forgetLimits } from '../auth/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { credentials, key, openPix } from './pix-desk.ts'

describe('Pix through the bank of a house', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPix>>
  before(async () => {
    a = await openPix(world)
  })
  beforeEach(() => forgetLimits(world))

  it('is set up by the owner, told by mail, and proven with the bank', async () => {
    const body = { keys: [{ type: 'random', key }], connection: { provider: 'sandbox', credentials } }
    expect((await a.send(a.finance, 'PUT', `accounts/${a.bankId}/pix`, body)).status).to.equal(403)
    expect((await a.charge({ amount: 100 }, 422)).code).to.equal('pix_not_ready')
    const wrong = { ...body, keys: [{ type: 'cpf', key: '52998224726' }] }
    expect((await a.send(a.owner, 'PUT', `accounts/${a.bankId}/pix`, wrong)).status).to.equal(400)
    const refused = {
      ...body,
      connection: { provider: 'sandbox', credentials: { ...credentials, clientSecret: 'wrong' } },
    }
    done(await a.send(a.owner, 'PUT', `accounts/${a.bankId}/pix`, refused))
    await world.drain()
    expect(done(await a.owner.get(`cash/accounts/${a.bankId}`)).pix).to.include({ status: 'failing' })
    const set = done(await a.send(a.owner, 'PUT', `accounts/${a.bankId}/pix`, body))
    expect(set).to.include({ status: 'connecting', provider: 'sandbox' })
    expect(JSON.stringify(set)).not.to.include('right')
    await world.drain()
    const { pix } = done(await a.owner.get(`cash/accounts/${a.bankId}`))
    expect(pix).to.include({ status: 'active' })
    expect(pix.keys.map((one: Parsed) => one.key)).to.deep.equal([key])
    const mails = await a.rows(
      `select m.id from user_mail m join notice n on n.id = m.reference_id where n.tenant_id = :tenantId and m.kind = 'pix_connection_changed'`,
    )
    expect(mails.length).to.be.greaterThanOrEqual(4)
  })

  it('lets one of two people set it who read the account together', async () => {
    const { version } = done(await a.owner.get(`cash/accounts/${a.bankId}`))
    const set = (name: string, expected: number) =>
      a.owner.send(
        'PUT',
        `cash/accounts/${a.bankId}/pix`,
        { keys: ['random', 'email'].map((type) => ({ type, key: type === 'random' ? key : `${name}@sol.example` })) },
        { idempotencyKey: randomUUID(), headers: { 'if-match': `"${expected}"` } },
      )
    const replies = await Promise.all([set('caixa', version), set('banco', version)])
    expect(replies.map(({ status }) => status).toSorted((x, y) => x - y)).to.deep.equal([200, 409])
    expect(replies.find(({ status }) => status === 409)?.body.code).to.equal('version_conflict')
    expect(replies.find(({ status }) => status === 200)?.body.version).to.equal(version + 1)
    const account = done(await a.owner.get(`cash/accounts/${a.bankId}`))
    expect(account.version).to.equal(version + 1)
    expect(account.pix.keys.length).to.equal(2)
    const back = { keys: [{ type: 'random', key }] }
    done(await a.send(a.owner, 'PUT', `accounts/${a.bankId}/pix`, back))
    await world.drain()
  })

  it('asks by a static code at once, and by a charge once the bank has made it', async () => {
    const fixed = await a.charge({ kind: 'static', amount: 19_990, text: 'Depósito' })
    expect(fixed).to.include({ status: 'active', paid: 0 })
    expect(fixed.txid).to.match(/^[a-z0-9]{25}$/)
    expect(fixed.brCode).to.match(/^000201.*6304[0-9A-F]{4}$/)
    const due = { kind: 'due_date', amount: 500, dueOn: a.house.day(5) }
    expect((await a.charge(due, 400)).errors[0].field).to.equal('payer')
    const dated = await a.charge({ ...due, payer: { name: 'Maria', document: '52998224725' }, fineRate: 200 })
    expect(dated).to.include({ status: 'creating', brCode: null, daysAfterDue: 30 })
    expect(dated.payer).to.deep.equal({ name: 'Maria', document: dated.payer.document })
    await world.drain()
    expect(await a.read(dated.id)).to.include({ status: 'active' })
    expect((await a.read(dated.id)).brCode).to.include('pix.sandbox.example')
    const refused = await a.charge({ amount: 100, text: 'charge_refused' })
    await world.drain()
    expect(await a.read(refused.id)).to.include({ status: 'failed' })
    const before = await a.balance()
    // A static code may be paid many times, by any amount.
    for (const amount of [19_990, 5])
      await a.house.inHouse((trx) =>
        takePix(trx, a.bankId, {
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
    expect(await a.read(fixed.id)).to.include({ status: 'active', paid: 19_995, receivedCount: 2 })
    expect(await a.balance()).to.equal(before + 19_995)
    const cancelled = done(await a.send(a.owner, 'POST', `pix/charges/${fixed.id}/cancel`))
    expect(cancelled.status).to.equal('cancelled')
  })

  it('books a Pix once, whatever tells of it and how often', async () => {
    const before = await a.balance()
    const made = await a.charge({ amount: 12_345, text: 'pays' })
    await world.drain()
    const [id = ''] = await a.comes(made.txid)
    const address = await a.hook()
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => a.call([id], address))))).to.deep.equal(
      new Set([200]),
    )
    expect(await a.call([id], '/api/callbacks/pix/forged')).to.equal(401)
    await a.house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: a.house.tenantId, cashAccountId: a.bankId }))
    await world.drain()
    expect(await a.call([id], address)).to.equal(200)
    await world.drain()
    expect(await a.movementsOf(id)).to.have.length(1)
    expect(await a.balance()).to.equal(before + 12_345)
    const paid = await a.read(made.id)
    expect(paid).to.include({ status: 'paid', paid: 12_345, receivedCount: 1 })
    expect(paid.receipts[0]).to.include({ endToEndId: id, claimedByType: 'receipt', returned: 0 })
    // An id that the bank does not know brings nothing.
    await a.call(['E00000000000000000000000000000000'], address)
    await world.drain()
    expect(await a.balance()).to.equal(before + 12_345)
  })

  it('finds what no call has told, and money that came twice or too late', async () => {
    const before = await a.balance()
    const [lost, twice, late] = [
      await a.charge({ amount: 100, text: 'callback_lost' }),
      await a.charge({ amount: 200, text: 'pays_twice' }),
      await a.charge({ amount: 300, text: 'pays' }),
    ]
    await world.drain()
    const ids = [await a.comes(lost.txid), await a.comes(twice.txid, 2), await a.comes(late.txid)].flat()
    await a.rows(`update pix_charge set ends_at = now() where id = :id returning id`, { id: late.id })
    // The clock ends a charge that was paid a moment ago: the bank knows better.
    await a.house.inHouse((trx) =>
      enqueue(trx, expirePixChargeJob, { tenantId: a.house.tenantId, pixChargeId: late.id }),
    )
    await world.drain()
    expect(await a.read(late.id)).to.include({ status: 'paid', paid: 300 })
    await a.house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: a.house.tenantId, cashAccountId: a.bankId }))
    await world.drain()
    expect(await a.read(twice.id)).to.include({ status: 'paid', paid: 400, receivedCount: 2 })
    expect(await a.read(lost.id)).to.include({ status: 'paid', paid: 100 })
    for (const id of ids) expect(await a.movementsOf(id)).to.have.length(1)
    expect(await a.balance()).to.equal(before + 800)
    const never = await a.charge({ amount: 100, text: 'never' })
    await world.drain()
    done(await a.send(a.owner, 'POST', `pix/charges/${never.id}/cancel`))
    await world.drain()
    expect(await a.read(never.id)).to.include({ status: 'cancelled' })
    const raced = await a.charge({ amount: 100, text: 'callback_lost' })
    await world.drain()
    await a.comes(raced.txid)
    expect(done(await a.send(a.owner, 'POST', `pix/charges/${raced.id}/cancel`)).status).to.equal('cancelling')
    await world.drain()
    expect(await a.read(raced.id)).to.include({ status: 'paid', paid: 100 })
  })

  it('pays a booking, which has one live charge', async () => {
    const targetId = await makeHold(a.house, { from: 20 })
    const asked = { amount: 5_000, targetType: 'booking', targetId, text: 'pays' }
    const made = await a.charge(asked)
    expect((await a.charge(asked, 200)).id).to.equal(made.id)
    expect((await a.charge({ ...asked, amount: 6_000 }, 409)).code).to.equal('charge_exists')
    await world.drain()
    const ids = await a.comes(made.txid)
    await a.call(ids)
    await world.drain()
    const paid = await a.read(made.id)
    expect(paid).to.include({ status: 'paid' })
    expect(paid.receipts[0]).to.include({ claimedByType: 'payment' })
    const [payment] = await a.rows(`select method, amount, allocated_amount from payment where id = :id`, {
      id: paid.receipts[0].claimedById,
    })
    expect(payment).to.deep.equal({ method: 'pix', amount: 5_000, allocatedAmount: 5_000 })
    expect((await a.charge({ amount: 1, targetType: 'folio', targetId: randomUUID() }, 422)).code).to.equal(
      'reference_not_found',
    )
  })

  it('is failing when the bank refuses for a quarter of an hour, and reads on', async () => {
    await a.house.inHouse((trx) => noteConnection(trx, a.bankId, 'credentials_refused'))
    expect(done(await a.owner.get(`cash/accounts/${a.bankId}`)).pix).to.include({ status: 'active' })
    await a.rows(
      `update pix_connection set failing_since = now() - interval '16 minutes' where cash_account_id = :bankId returning id`,
    )
    await a.house.inHouse((trx) => noteConnection(trx, a.bankId, 'credentials_refused'))
    expect(done(await a.owner.get(`cash/accounts/${a.bankId}`)).pix).to.include({ status: 'failing' })
    expect((await a.charge({ amount: 100 }, 422)).code).to.equal('pix_not_ready')
    await a.house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: a.house.tenantId, cashAccountId: a.bankId }))
    await world.drain()
    expect(done(await a.owner.get(`cash/accounts/${a.bankId}`)).pix).to.include({ status: 'active' })
  })
})
