import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { beginReturn, chargeCall, pixLine } from '../../db/cash/index.ts'
import { readGate } from '../../db/jobs/gates.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { expirePixChargeJob, sweepPixJob, syncPixJob } from '../../jobs/cash.ts'
import { bcbBank } from '../../workers/pix/bcb.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { bankAddress, startPixBank } from '../support/pix-peer.ts'
import type { BankFault, PixBank } from '../support/pix-peer.ts'
import { useWorld } from '../support/world.ts'
import { selfSigned } from '../webhooks/self-signed.ts'

const key = '123e4567-e12b-42d1-a456-426655440000'
const otherKey = '52998224725'
const credentials = { clientId: 'pousada', clientSecret: 'right' }

describe('Pix through a bank that speaks the standard of the Central Bank', function () {
  this.timeout(120_000)
  const world = useWorld()
  let bank: PixBank
  let house: House
  let owner: Desk
  let finance: Desk
  let bankId: string

  const send = (desk: Desk, method: string, path: string, body: object = {}) =>
    desk.send(method, `cash/${path}`, body, { idempotencyKey: randomUUID() })
  const rows = <Row = Parsed>(text: string, values: Record<string, unknown> = {}): Promise<Row[]> =>
    sql<Row>(world.database.admin, text, { tenantId: house.tenantId, bankId, ...values })
  const balance = async () => done(await owner.get(`cash/accounts/${bankId}`)).balance as number
  const shown = async (): Promise<Parsed> => done(await owner.get(`cash/accounts/${bankId}`)).pix
  const setUp = (more: object = {}, keys: object[] = [{ type: 'random', key }]) =>
    send(owner, 'PUT', `accounts/${bankId}/pix`, {
      keys,
      connection: { provider: 'bcb', address: bankAddress, credentials, ...more },
    })
  const charge = async (body: object = {}): Promise<Parsed> =>
    done(await send(finance, 'POST', 'pix/charges', { kind: 'immediate', cashAccountId: bankId, ...body }), 201)
  const read = async (id: string): Promise<Parsed> => done(await finance.get(`cash/pix/charges/${id}`))
  /** Work that waits is done now, also behind a gate that is closed for a while. */
  const work = async (rounds = 3) => {
    for (let round = 0; round < rounds; round += 1) {
      await world.database.admin.raw(
        `update jobs set run_at = now() where kind like 'payments.%pix%' and status = 'pending';
         update provider_gate set closed_until = now() where state = 'closed'`,
      )
      await world.drain()
    }
  }
  const sync = async () => {
    await house.inHouse((trx) => enqueue(trx, syncPixJob, { tenantId: house.tenantId, cashAccountId: bankId }))
    await world.drain()
  }
  /** The bank calls the address that the house has given it. */
  const calls = async (endToEndId: string) => {
    const { pathname } = new URL(bank.hooks.get(key) ?? '')
    const reply = await fetch(`${world.baseUrl}${pathname}/pix`, {
      method: 'POST',
      body: JSON.stringify({ pix: [{ endToEndId, valor: '1.00', horario: new Date().toISOString() }] }),
    })
    return reply.status
  }
  const madeAtBank = (txid: string) =>
    bank.heard.filter(({ method, path }) => method === 'PUT' && path.endsWith(`/${txid}`)).length
  const line = async () => {
    const found = await house.inHouse((trx) => pixLine(trx, bankId))
    if (!found) throw new Error('the account has no connection')
    return found
  }

  before(async () => {
    bank = await startPixBank({ keys: [key, otherKey], perPage: 2 })
    house = await makeHouse({ units: 1 })
    await forgetLimits(world)
    owner = await openDesk(world, house, 'owner')
    finance = await openDesk(world, house, 'finance')
    bankId = done(
      await send(finance, 'POST', 'accounts', {
        kind: 'bank',
        code: 'BCB',
        name: 'Banco',
        propertyId: house.propertyId,
        opening: { amount: 1_000_000, on: house.today },
      }),
      201,
    ).id as string
  })
  beforeEach(() => forgetLimits(world))
  after(() => bank.stop())

  it('is refused without an address, with one that is not called, or with a certificate that is none', async () => {
    const wrong = async (more: object): Promise<[number, string, string]> => {
      const { status, body } = await setUp(more)
      return [status, body.code as string, body.errors[0].field as string]
    }
    expect(await wrong({ address: undefined })).to.deep.equal([400, 'validation_failed', 'connection.address'])
    const inside = { ...bankAddress, baseUrl: 'https://127.0.0.1/v2' }
    expect(await wrong({ address: inside })).to.deep.equal([422, 'address_refused', 'connection.address.baseUrl'])
    const certificatePem = selfSigned.cert
    expect(await wrong({ credentials: { ...credentials, certificatePem } })).to.deep.equal([
      400,
      'validation_failed',
      'connection.credentials.certificatePem',
    ])
    const broken = { ...credentials, certificatePem, privateKeyPem: 'no key' }
    expect((await wrong({ credentials: broken }))[2]).to.equal('connection.credentials.privateKeyPem')
    expect((await wrong({ provider: 'sandbox' }))[2]).to.equal('connection.address')
  })

  it('is proven with the bank, which is told where to call for each key', async () => {
    expect((await setUp({ credentials: { ...credentials, clientSecret: 'wrong' } })).status).to.equal(200)
    await world.drain()
    expect(await shown()).to.include({ status: 'failing', lastError: 'credentials_refused' })
    expect(
      (await send(finance, 'POST', 'pix/charges', { kind: 'immediate', cashAccountId: bankId, amount: 1 })).body.code,
    ).to.equal('pix_not_ready')
    const unknown = [{ type: 'email', key: 'caixa@sol.example' }]
    expect((await setUp({}, unknown)).status).to.equal(200)
    await world.drain()
    expect((await shown()).status).to.equal('failing')
    const set = done(await setUp())
    expect(JSON.stringify(set)).not.to.include('right')
    await world.drain()
    expect(await shown()).to.deep.include({
      status: 'active',
      provider: 'bcb',
      address: bankAddress,
      capabilities: ['charge', 'return'],
      lastError: null,
    })
    expect([...bank.hooks.keys()]).to.deep.equal([key])
    // A key that is added later is told to the bank, too.
    done(
      await send(owner, 'PUT', `accounts/${bankId}/pix`, {
        keys: [
          { type: 'random', key },
          { type: 'cpf', key: otherKey },
        ],
      }),
    )
    await world.drain()
    expect([...bank.hooks.keys()]).to.deep.equal([key, otherKey])
    done(await send(owner, 'PUT', `accounts/${bankId}/pix`, { keys: [{ type: 'random', key }] }))
    await world.drain()
  })

  it('makes charges as the standard has them, and shows what the bank refuses', async () => {
    const plain = await charge({ amount: 12_345, text: 'Depósito' })
    const dated = await charge({
      kind: 'due_date',
      amount: 50_005,
      dueOn: house.day(20),
      daysAfterDue: 15,
      payer: { name: 'Maria', document: '52998224725' },
      fineRate: 200,
      monthlyInterestRate: 100,
      discounts: [{ until: house.day(10), amount: 505 }],
    })
    const refused = await charge({ amount: 1_000_000_000_000 })
    await world.drain()
    expect(await read(plain.id)).to.include({ status: 'active' })
    expect((await read(plain.id)).brCode).to.include(`pix.bank.example/qr/v2/cob/${plain.txid}`)
    const body = (txid: string) => bank.heard.find(({ path }) => path.endsWith(txid))?.body
    expect(body(plain.txid)).to.deep.include({
      chave: key,
      valor: { original: '123.45' },
      solicitacaoPagador: 'Depósito',
    })
    expect(body(dated.txid)).to.deep.equal({
      chave: key,
      devedor: { cpf: '52998224725', nome: 'Maria' },
      calendario: { dataDeVencimento: house.day(20), validadeAposVencimento: 15 },
      valor: {
        original: '500.05',
        multa: { modalidade: 2, valorPerc: '2.00' },
        juros: { modalidade: 3, valorPerc: '1.00' },
        desconto: { modalidade: 1, descontoDataFixa: [{ data: house.day(10), valorPerc: '5.05' }] },
      },
    })
    expect(await read(dated.id)).to.include({ status: 'active' })
    const failed = await read(refused.id)
    expect(failed.status).to.equal('failed')
    const [row] = await rows(`select failure from pix_charge where id = :id`, { id: refused.id })
    expect(row?.failure.code).to.equal('CobOperacaoInvalida')
    expect(row?.failure.message).to.include('valor.original')
  })

  const troubles: [BankFault, string][] = [
    ['fails', 'answers 500'],
    ['closed', 'is out of its hours'],
    ['busy', 'is busy'],
    ['resets', 'closes the connection'],
    ['hangs', 'hangs'],
    ['lost', 'does it, and its answer is lost'],
    ['malformed', 'does it, and answers what is no JSON'],
  ]
  for (const [fault, what] of troubles)
    it(`makes a charge once, and takes it back, where the bank ${what}`, async () => {
      bank.next('PUT', '/cob/', fault)
      bank.next('POST', '/oauth/', fault)
      bank.forgetTokens()
      const made = await charge({ amount: 700 })
      await work(4)
      expect(await read(made.id)).to.include({ status: 'active' })
      bank.next('PATCH', '/cob/', fault)
      expect(done(await send(owner, 'POST', `pix/charges/${made.id}/cancel`)).status).to.equal('cancelling')
      await work(4)
      expect(await read(made.id)).to.include({ status: 'cancelled' })
      expect(bank.charges.get(made.txid)?.status).to.equal('REMOVIDA_PELO_USUARIO_RECEBEDOR')
    })

  it('makes a charge once when its worker dies between the call and the answer', async () => {
    const made = await charge({ amount: 900 })
    const call = await house.inHouse((trx) => chargeCall(trx, made.id, ['creating']))
    await bcbBank.createCharge({ line: call!.line, signal: AbortSignal.timeout(5_000) }, call!)
    // Somebody has paid it before the next worker comes: the standard refuses to make it again.
    const endToEndId = bank.pays({ txid: made.txid, amount: '9.00' })
    await work()
    expect((await read(made.id)).brCode).to.include(made.txid)
    expect(await calls(endToEndId)).to.equal(200)
    await world.drain()
    expect(await read(made.id)).to.include({ status: 'paid', paid: 900 })
    expect(madeAtBank(made.txid)).to.equal(2)
  })

  it('books money once: told, told again, found in the list over pages, or paid while it was being taken back', async () => {
    const before = await balance()
    const [told, silent, raced] = [
      await charge({ amount: 1_000 }),
      await charge({ amount: 2_000 }),
      await charge({ amount: 3_000 }),
    ]
    await world.drain()
    const first = bank.pays({ txid: told.txid, amount: '10.00', text: 'obrigado' })
    expect(await Promise.all([calls(first), calls(first), calls(first)])).to.deep.equal([200, 200, 200])
    await world.drain()
    bank.pays({ txid: silent.txid, amount: '20.00' })
    // Money for a key of another account of the house at this bank is not of this account.
    bank.pays({ amount: '77.00', key: otherKey })
    const free = bank.pays({ amount: '0.50', key })
    bank.next('GET', '/pix', 'fails')
    await sync()
    await sync()
    await sync()
    bank.pays({ txid: raced.txid, amount: '30.00' })
    done(await send(owner, 'POST', `pix/charges/${raced.id}/cancel`))
    await work()
    for (const [one, paid] of [
      [told, 1_000],
      [silent, 2_000],
      [raced, 3_000],
    ] as const)
      expect(await read(one.id)).to.include({ status: 'paid', paid, receivedCount: 1 })
    expect(await balance()).to.equal(before + 6_050)
    expect(await calls(free)).to.equal(200)
    await calls(`E${'0'.repeat(31)}`)
    await world.drain()
    expect(await balance()).to.equal(before + 6_050)
  })

  it('ends a charge whose time is over, though the record of the bank stays active', async () => {
    const made = await charge({ amount: 100 })
    await world.drain()
    const held = bank.charges.get(made.txid)
    const calendar = held?.['calendario'] as Record<string, unknown> | undefined
    if (calendar) calendar['criacao'] = new Date(Date.now() - 86_400_000).toISOString()
    await house.inHouse((trx) => enqueue(trx, expirePixChargeJob, { tenantId: house.tenantId, pixChargeId: made.id }))
    await world.drain()
    expect(held?.status).to.equal('ATIVA')
    expect(await read(made.id)).to.include({ status: 'expired' })
  })

  /** A Pix of 40.00 without a charge, as a receipt. */
  const received = async (): Promise<{ endToEndId: string; receiptId: string }> => {
    const endToEndId = bank.pays({ amount: '40.00', key })
    await calls(endToEndId)
    await world.drain()
    const [row] = await rows<{ id: string }>(
      `select claimed_by_id as id from pix_receipt where tenant_id = :tenantId and end_to_end_id = :endToEndId`,
      { endToEndId },
    )
    return { endToEndId, receiptId: row?.id ?? '' }
  }
  const giveBack = async (receiptId: string, amount = 4_000) =>
    done(
      await finance.send(
        'POST',
        `accounts-receivable/receipts/${receiptId}/refund`,
        { via: 'pix_return', amount, reason: 'Sent twice' },
        { idempotencyKey: randomUUID() },
      ),
    )
  const returnsOf = (endToEndId: string) => bank.money.get(endToEndId)?.devolucoes ?? []
  const refundOf = (receiptId: string) =>
    rows(`select status from receipt_refund where tenant_id = :tenantId and receipt_id = :receiptId`, { receiptId })
  const readReturns = async () => {
    await rows(
      `update pix_return set next_read_at = now() where tenant_id = :tenantId and status = 'sending' returning id`,
    )
    await inPlatform((trx) => enqueue(trx, sweepPixJob, {}))
    await world.drain({ kinds: ['payments.sweep-pix'] })
    await work()
  }

  for (const fault of ['lost', 'fails', 'hangs', 'malformed'] as const)
    it(`returns money once, where the bank ${fault === 'lost' ? 'does it in silence' : `meets: ${fault}`}`, async () => {
      const before = await balance()
      const { endToEndId, receiptId } = await received()
      bank.next('PUT', '/devolucao/', fault)
      await giveBack(receiptId)
      await world.drain()
      await readReturns()
      expect(returnsOf(endToEndId)).to.have.length(1)
      expect(await refundOf(receiptId)).to.deep.equal([{ status: 'succeeded' }])
      // The list shows our own return: it is not booked as one of the bank.
      await sync()
      expect(await balance()).to.equal(before)
    })

  it('goes on asking about a return that was made in silence, where the bank refuses the question', async () => {
    const before = await balance()
    const { endToEndId, receiptId } = await received()
    bank.next('PUT', '/devolucao/', 'lost')
    await giveBack(receiptId)
    await world.drain()
    expect(returnsOf(endToEndId)).to.have.length(1)
    const [sending] = await rows<{ id: string }>(
      `select id from pix_return where tenant_id = :tenantId and status = 'sending'`,
    )
    const call = await house.inHouse((trx) => beginReturn(trx, sending?.id ?? ''))
    bank.next('GET', '/devolucao/', 'refuses')
    // Asked for once more, the bank refuses the repetition and the question: the money has left all the same.
    const again = { ...call!, isAgain: true }
    const calling = { line: call!.line, signal: AbortSignal.timeout(5_000) }
    expect((await bcbBank.returnPix(calling, again)).kind).to.equal('unknown')
    bank.next('GET', '/devolucao/', 'refuses')
    // The last reading of the schedule is not the last one: money that may be gone is asked about until it is known.
    await rows(`update pix_return set read_count = 20 where tenant_id = :tenantId and status = 'sending' returning id`)
    await readReturns()
    expect(await refundOf(receiptId)).to.deep.equal([{ status: 'requested' }])
    const [waiting] = await rows<{ next: Date | null }>(
      `select next_read_at as next from pix_return where tenant_id = :tenantId and status = 'sending'`,
    )
    expect(waiting?.next).not.to.equal(null)
    await readReturns()
    expect(await refundOf(receiptId)).to.deep.equal([{ status: 'succeeded' }])
    expect(returnsOf(endToEndId)).to.have.length(1)
    expect(await balance()).to.equal(before)
  })

  it('returns money once when its worker dies on the way, waits while the bank works on it, and frees what it cannot do', async () => {
    const before = await balance()
    const killed = await received()
    await giveBack(killed.receiptId)
    const [asked] = await rows<{ id: string }>(
      `select id from pix_return where tenant_id = :tenantId and status = 'requested'`,
    )
    const call = await house.inHouse((trx) => beginReturn(trx, asked?.id ?? ''))
    bank.returns = 'EM_PROCESSAMENTO'
    await bcbBank.returnPix({ line: call!.line, signal: AbortSignal.timeout(5_000) }, call!)
    await readReturns()
    expect(await refundOf(killed.receiptId)).to.deep.equal([{ status: 'requested' }])
    for (const one of returnsOf(killed.endToEndId)) one['status'] = 'DEVOLVIDO'
    await readReturns()
    expect(await refundOf(killed.receiptId)).to.deep.equal([{ status: 'succeeded' }])
    expect(returnsOf(killed.endToEndId)).to.have.length(1)
    expect(await balance()).to.equal(before)
    bank.returns = 'NAO_REALIZADO'
    const poor = await received()
    await giveBack(poor.receiptId)
    await world.drain()
    expect(await refundOf(poor.receiptId)).to.deep.equal([{ status: 'failed' }])
    expect(await balance()).to.equal(before + 4_000)
    bank.returns = 'DEVOLVIDO'
    await giveBack(poor.receiptId, 1_500)
    await world.drain()
    expect(await balance()).to.equal(before + 2_500)
    // The rest goes back by the bank's own mechanism, in the window in which it may.
    bank.takesBack(poor.endToEndId, '25.00')
    await calls(poor.endToEndId)
    await sync()
    await sync()
    expect(await balance()).to.equal(before)
  })

  it('waits at a closed gate while the credentials are refused, and loses nothing', async () => {
    bank.secret = 'another'
    bank.forgetTokens()
    const made = await charge({ amount: 4_400 })
    await work()
    expect(await read(made.id)).to.include({ status: 'creating' })
    const { connectionId } = await line()
    expect(await inPlatform((trx) => readGate(trx, `bcb_pix:${connectionId}`))).to.include({
      state: 'closed',
      reason: 'credentials_refused',
    })
    expect(bank.charges.has(made.txid)).to.equal(false)
    bank.secret = 'renewed'
    done(await setUp({ credentials: { ...credentials, clientSecret: 'renewed' } }))
    await work()
    expect(await read(made.id)).to.include({ status: 'active' })
    expect(await shown()).to.include({ status: 'active' })
    expect((await inPlatform((trx) => readGate(trx, `bcb_pix:${connectionId}`)))?.state).to.equal('open')
  })

  it('sends no money, and cannot move to another bank while charges are live', async () => {
    const [expense] = await rows<{ id: string }>(
      `select id from account where tenant_id = :tenantId and code = '6.1.10'`,
    )
    const sent = await send(finance, 'POST', 'transfers', {
      fromAccountId: bankId,
      method: 'pix',
      amount: 700,
      purpose: 'Flowers',
      accountId: expense?.id,
      payee: { keyType: 'random', key, name: 'Loja', document: '52998224725' },
    })
    expect([sent.status, sent.body.code]).to.deep.equal([422, 'pix_send_unsupported'])
    const moved = await setUp({ address: { ...bankAddress, baseUrl: 'https://pix.bank.example/v3' } })
    expect([moved.status, moved.body.code]).to.deep.equal([422, 'in_use'])
  })

  it('leaves the books equal to the accounts', async () => {
    done(await finance.send('POST', 'financial/integrity-checks/run', { bookId: house.bookId }), 201)
    await world.drain()
    const { data } = done(await finance.get(`financial/integrity-checks?bookId=${house.bookId}`))
    expect(data.filter((one: Parsed) => one.status === 'failed')).to.deep.equal([])
  })
})

describe('a bank that takes its own customers alone', () => {
  it('hears the house by its certificate, and refuses it without one', async () => {
    const bank = await startPixBank({ keys: [key], tls: selfSigned })
    try {
      const line = {
        connectionId: randomUUID(),
        cashAccountId: randomUUID(),
        provider: 'bcb' as const,
        gateProvider: 'bcb_pix',
        address: bankAddress,
        hookUrl: 'https://pousada.example/api/callbacks/pix/x',
        keys: [key],
        lastSyncedAt: null,
        createdAt: new Date(),
      }
      const ask = (more: object) =>
        bcbBank.register({
          line: { ...line, credentials: { ...credentials, ...more } },
          signal: AbortSignal.timeout(5_000),
        })
      expect(await ask({})).to.include({ kind: 'refused', code: 'certificate_refused', httpStatus: 401 })
      const own = { certificatePem: selfSigned.cert, privateKeyPem: selfSigned.key }
      expect(await ask(own)).to.include({ kind: 'known' })
      expect(bank.hooks.get(key)).to.equal(line.hookUrl)
    } finally {
      await bank.stop()
    }
  })
})
