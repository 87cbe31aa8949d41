import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { settings } from '../../config/env.ts'
import { addDays } from '../../config/time.ts'
import { beginSending, createCashAccount, registerPixSender, settleTransfer } from '../../db/cash/index.ts'
import { rollBusinessDay } from '../../db/financial/index.ts'
import { addSandboxAccount } from '../../db/payment/index.ts'
import { registerModules } from '../../db/register.ts'
import { openFolio } from '../../db/reservations/folio/create.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Parsed } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import { makeConfirmed } from '../support/messages.ts'
import { makeHold, readBooking } from '../support/stay.ts'
import { until } from '../support/until.ts'
import { useWorld } from '../support/world.ts'
import { openReceipts } from './receipts-desk.ts'

describe('money of customers between receipts, folios and payments', function () {
  this.timeout(240_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openReceipts>>
  let bankId: string
  before(async () => {
    settings.sandboxSecondMs = 40
    settings.publicBaseUrl = world.baseUrl
    a = await openReceipts(world, { ofHouse: true })
    bankId = await a.bank()
    await a.house.inHouse((trx) => addSandboxAccount(trx, { bookId: a.bookId, country: 'BR', currency: 'BRL' }))
  })
  after(() => {
    const none = () => Promise.reject(new Error('nothing is sent'))
    registerPixSender({
      stateOf: () => Promise.resolve('unsupported'),
      send: none,
    })
    registerModules()
  })
  beforeEach(() => a.calm())

  const at = (id: string, verb: string) => `${a.path}/${id}/${verb}`
  const chargedFolio = async (amount: number): Promise<string> => {
    const folioId = await a.house.inHouse((trx) => openFolio(trx, { propertyId: a.house.propertyId, kind: 'house' }))
    await a.good(a.owner, 'POST', `folios/${folioId}/charges`, {
      category: 'spa',
      description: 'Massagem',
      quantity: '1',
      unitAmount: amount,
    })
    return folioId
  }
  const balance = async (folioId: string) => (await a.good(a.owner, 'GET', `folios/${folioId}`)).balance as number

  it('a house whose business day is ahead of the day of its book takes money, undoes it and gives it back', async () => {
    // So it is for some hours of each night where the zone of the house is ahead of that of its book.
    const other = await openReceipts(world, { ofHouse: true })
    const { house, finance, owner } = other
    const registerId = await house.inHouse((trx) =>
      createCashAccount(trx, { kind: 'register', code: 'TILL', name: 'Till', propertyId: house.propertyId }),
    )
    const day = addDays(house.today, 1)
    const customerId = await other.customer()
    await other.plain(customerId, [10_000])
    await house.inHouse((trx) => rollBusinessDay(trx, house.propertyId, house.today, {}))
    await other.good(owner, 'POST', 'cash/sessions', { registerId, count: {} })
    const money = { customerId, cashAccountId: registerId, method: 'cash', receivedOn: day }
    const { id, allocations } = await other.receipt({ ...money, amount: 10_000, auto: true })
    const dates = () =>
      other.rows<{ on: string }>(
        `select dated_on as "on" from receipt_allocation where receipt_id = :id order by created_at`,
        { id },
      )
    await other.good(finance, 'DELETE', `${at(id, 'allocations')}/${(allocations as Parsed[])[0]?.id}`)
    expect((await dates()).map(({ on }) => on)).to.deep.equal([day, day])
    await other.good(owner, 'POST', at(id, 'refund'), { amount: 4_000, via: 'manual', reason: 'Too much' })
    const [refund] = await other.rows(`select requested_on, ended_on from receipt_refund where receipt_id = :id`, {
      id,
    })
    expect(Object.values(refund ?? {})).to.deep.equal([day, day])
    const { id: mistaken } = await other.receipt({ ...money, amount: 500 })
    await other.good(finance, 'POST', at(mistaken, 'reverse'), { reason: 'A mistake' })
    await world.drain()
    expect(await other.failing()).to.deep.equal([])
  })

  it('an advance pays a folio up to what it owes, and comes back where it stands', async () => {
    const customerId = await a.customer()
    const folioId = await chargedFolio(8_000)
    const owed = await balance(folioId)
    const { id } = await a.receipt({ customerId, cashAccountId: bankId, amount: 20_000, receivedOn: a.house.today })
    const pay = (amount: number) => ({ allocations: [{ targetType: 'folio', targetId: folioId, amount }] })
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), pay(owed + 1))).to.deep.equal([
      422,
      'target_closed',
    ])
    const paid = await a.good(a.finance, 'POST', at(id, 'allocations'), pay(owed))
    expect(paid).to.include({ allocated: owed, available: 20_000 - owed })
    expect(await balance(folioId)).to.equal(0)
    const { data } = await a.good(a.owner, 'GET', `folios/${folioId}/lines?kind=payment`)
    expect(data.map((line: Parsed) => [line.receiptId, line.paymentId, line.amount])).to.deep.equal([[id, null, -owed]])
    const moved = { toFolioId: await chargedFolio(100), lines: [{ lineId: data[0].id }] }
    expect(await a.refused(a.owner, 'POST', `folios/${folioId}/transfers`, moved)).to.deep.equal([
      422,
      'line_not_transferable',
    ])
    await a.good(a.finance, 'DELETE', `${at(id, 'allocations')}/${paid.allocations[0].id}`)
    expect(await balance(folioId)).to.equal(owed)
    expect(await a.read(id)).to.include({ allocated: 0, available: 20_000 })
    await a.good(a.finance, 'POST', at(id, 'allocations'), pay(owed))
    await a.good(a.owner, 'POST', `folios/${folioId}/close`, {})
    const [, , again] = (await a.read(id)).allocations as Parsed[]
    expect(await a.refused(a.finance, 'DELETE', `${at(id, 'allocations')}/${again?.id}`)).to.deep.equal([
      422,
      'target_closed',
    ])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('an advance is the deposit of a confirmed stay, and pays no hold', async () => {
    const { id } = await a.receipt({ cashAccountId: bankId, amount: 6_000, receivedOn: a.house.today })
    const pay = (reservationId: string | undefined, amount: number) => ({
      allocations: [{ targetType: 'reservation', targetId: reservationId, amount }],
    })
    const held = await readBooking(a.house, await makeHold(a.house, { from: 40 }))
    expect(await a.refused(a.finance, 'POST', at(id, 'allocations'), pay(held.rooms[0]?.id, 100))).to.deep.equal([
      422,
      'reference_not_found',
    ])
    const free = await makeHouse({ tenantId: a.house.tenantId, units: 1, deposit: null })
    const stay = await readBooking(free, await makeConfirmed(free, { from: 45 }))
    const paid = await a.good(a.finance, 'POST', at(id, 'allocations'), pay(stay.rooms[0]?.id, 4_000))
    expect(paid).to.include({ customerId: null, allocated: 4_000, available: 2_000 })
    expect(await balance(stay.folios[0]?.id ?? '')).to.equal(-4_000)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
    await a.good(a.finance, 'DELETE', `${at(id, 'allocations')}/${paid.allocations[0].id}`)
    expect(await balance(stay.folios[0]?.id ?? '')).to.equal(0)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('cash lies in the open session of its cashier, who records no other money', async () => {
    const { propertyId, today } = a.house
    const registerId = await a.house.inHouse((trx) =>
      createCashAccount(trx, { kind: 'register', code: 'REG', name: 'Desk', propertyId }),
    )
    const reception = await openDesk(world, a.house, 'receptionist')
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [5_000])
    const cash = { customerId, cashAccountId: registerId, method: 'cash', amount: 5_000, receivedOn: today, auto: true }
    expect(await a.refused(reception, 'POST', a.path, cash)).to.deep.equal([403, 'forbidden'])
    const session = await a.good(reception, 'POST', 'cash/sessions', { registerId, count: {} })
    expect(await a.refused(reception, 'POST', a.path, { ...cash, receivedOn: a.house.day(-1) })).to.deep.equal([
      422,
      'date_out_of_range',
    ])
    expect(
      await a.refused(reception, 'POST', a.path, { ...cash, cashAccountId: bankId, method: 'bank' }),
    ).to.deep.equal([403, 'forbidden'])
    const own = await a.good(reception, 'POST', a.path, cash)
    expect(own).to.include({ cashSessionId: session.id, available: 0 })
    expect(await a.document(invoice.id)).to.include({ status: 'paid' })
    const payer = { payerName: 'Ana Souza', payerDocument: '529.982.247-25' }
    const other = await a.receipt({ cashAccountId: bankId, amount: 100, receivedOn: today, ...payer })
    expect((await a.good(reception, 'GET', `${a.path}/${other.id}`)).payerDocument).to.equal('***7-25')
    expect((await a.good(a.owner, 'GET', `${a.path}/${other.id}`)).payerDocument).to.equal('529.982.247-25')
    expect((await a.good(a.owner, 'GET', `cash/sessions/${session.id}`)).expected).to.equal(5_000)
    await a.good(a.owner, 'POST', at(own.id, 'reverse'), { reason: 'Counted wrongly' })
    expect((await a.good(a.owner, 'GET', `cash/sessions/${session.id}`)).expected).to.equal(0)
    expect(await a.document(invoice.id)).to.include({ status: 'issued' })
  })

  it('a card that a customer has saved pays for its own invoices, and for those of no other', async () => {
    const customerId = await a.customer()
    const other = await a.customer()
    const consent = { consentTextVersion: '2026-11', cardToken: 'success' }
    const unknown = await a.refused(a.owner, 'POST', 'payments/methods', { ...consent, customerId: randomUUID() })
    expect(unknown).to.deep.equal([422, 'reference_not_found'])
    const { id } = await a.good(a.owner, 'POST', 'payments/methods', { ...consent, customerId })
    const active = await until(
      async () => {
        await world.drain({ starts: 2_000 })
        const method = await a.good(a.owner, 'GET', `payments/methods/${id}`)
        return method.status === 'active' && method
      },
      { withinMs: 20_000, what: 'the card being saved' },
    )
    expect(active).to.include({ customerId, guestId: null })
    const listed = await a.good(a.owner, 'GET', `payments/methods?customerId=${customerId}`)
    expect(listed.data.map((one: Parsed) => one.id)).to.deep.equal([id])
    const pay = { method: 'card', currency: 'BRL', amount: 1_000, targetType: 'receivable', paymentMethodId: id }
    const [own, foreign] = [await a.plain(customerId, [1_000]), await a.plain(other, [1_000])]
    expect(await a.refused(a.owner, 'POST', 'payments', { ...pay, targetId: foreign.id })).to.deep.equal([
      422,
      'reference_not_found',
    ])
    expect(await a.good(a.owner, 'POST', 'payments', { ...pay, targetId: own.id })).to.include({ paymentMethodId: id })
    await world.drain({ starts: 2_000 })
    expect(await a.document(own.id)).to.include({ status: 'paid', settled: 1_000 })
  })

  it('what a gateway takes for an invoice is a receipt that follows its payment: applied, moved, refunded in part and whole', async () => {
    const customerId = await a.customer()
    const invoice = await a.plain(customerId, [6_000, 4_000])
    const pay = { method: 'card', currency: 'BRL', targetType: 'receivable', targetId: invoice.id }
    const paths = 'payments'
    expect(await a.refused(a.owner, 'POST', paths, { ...pay, amount: 10_001 })).to.deep.equal([
      422,
      'amount_exceeds_payable',
    ])
    const made = await a.good(a.owner, 'POST', paths, { ...pay, amount: 10_000 })
    const becomes = (is: (body: Parsed) => boolean, what: string): Promise<Parsed> =>
      until(
        async () => {
          await world.drain({ starts: 2_000 })
          await forgetLimits(world)
          const body = await a.good(a.owner, 'GET', `payments/${made.id}`)
          return is(body) && body
        },
        { withinMs: 20_000, what },
      )
    await becomes(({ status }) => status === 'captured', 'the capture')
    expect(await a.document(invoice.id)).to.include({ status: 'paid', settled: 10_000 })
    const mine = async (): Promise<Parsed> => {
      const { data } = await a.good(a.finance, 'GET', `${a.path}?customerId=${customerId}&sourceType=payment`)
      return a.read(data[0].id)
    }
    const receipt = await mine()
    expect(receipt).to.include({ sourceType: 'payment', amount: 10_000, allocated: 10_000, cashMovementId: null })
    expect(receipt.allocations.map(({ principal }: Parsed) => principal)).to.deep.equal([6_000, 4_000])
    for (const [verb, body] of [
      ['allocations', { auto: true }],
      ['reverse', { reason: 'Wrong' }],
      ['refund', { via: 'manual', cashAccountId: bankId, reason: 'Wrong' }],
    ] as const)
      expect(await a.refused(a.owner, 'POST', at(receipt.id, verb), body), verb).to.deep.equal([
        409,
        'managed_by_payments',
      ])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])

    await a.good(a.owner, 'POST', `payments/${made.id}/refunds`, { amount: 3_000, reason: 'guest_request' })
    await becomes(({ refundedAmount }) => refundedAmount === 3_000, 'the refund of a part')
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', settled: 7_000, open: 3_000 })
    expect(await mine()).to.include({ status: 'recorded', allocated: 7_000, refunded: 3_000, available: 0 })
    const aged = await a.good(a.finance, 'GET', `accounts-receivable/ageing?bookId=${a.bookId}`)
    const { availableReceipts } = (aged.data as Parsed[]).find(({ key }) => key === customerId) ?? aged.totals
    expect(availableReceipts, 'money that went back is not there').to.equal(0)
    await world.drain()
    expect(await a.failing()).to.deep.equal([])

    const wanted = { allocations: [] }
    await a.good(a.owner, 'PUT', `payments/${made.id}/allocations`, wanted)
    expect(await a.document(invoice.id)).to.include({ status: 'issued', settled: 0, open: 10_000 })
    await a.good(a.owner, 'PUT', `payments/${made.id}/allocations`, {
      allocations: [{ targetType: 'receivable', targetId: invoice.id, amount: 7_000 }],
    })
    expect(await a.document(invoice.id)).to.include({ status: 'partly_paid', settled: 7_000 })
    await a.good(a.owner, 'POST', `payments/${made.id}/refunds`, { reason: 'guest_request' })
    await becomes(({ refundedAmount }) => refundedAmount === 10_000, 'the refund of all')
    expect(await a.document(invoice.id)).to.include({ status: 'issued', settled: 0, open: 10_000 })
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('of one house pays nothing of another for those who see one house alone', async () => {
    const other = await makeHouse({ tenantId: a.house.tenantId, units: 1 })
    const limited = await openDesk(world, a.house, 'finance', [a.house.propertyId])
    const customerId = await a.customer()
    const [own, theirs] = [
      await a.plain(customerId, [500], { propertyId: a.house.propertyId }),
      await a.plain(customerId, [500], { propertyId: other.propertyId }),
    ]
    const ownBank = await a.house.inHouse((trx) =>
      createCashAccount(trx, { kind: 'bank', code: 'CASA', name: 'Casa', propertyId: a.house.propertyId }),
    )
    const money = { customerId, cashAccountId: ownBank, method: 'bank', amount: 500, receivedOn: a.house.today }
    const pay = ({ installments }: typeof own) => ({ allocations: [{ installmentId: installments[0]?.id }] })
    const [status] = await a.refused(limited, 'POST', a.path, { ...money, ...pay(theirs) })
    expect(status).to.be.oneOf([403, 404])
    const { id } = await a.good(limited, 'POST', a.path, money)
    const [no] = await a.refused(limited, 'POST', at(id, 'allocations'), pay(theirs))
    expect(no).to.be.oneOf([403, 404])
    await a.good(limited, 'POST', at(id, 'allocations'), pay(own))
    const [note] = await a.refused(limited, 'POST', 'accounts-receivable/credit-notes', {
      receivableId: theirs.id,
      reason: 'Not mine',
    })
    expect(note).to.be.oneOf([403, 404])
    expect(await a.document(theirs.id)).to.include({ status: 'issued', open: 500 })
  })

  it('goes back by a Pix that another person approves, or is available again when that is withdrawn', async () => {
    const sent: string[] = []
    registerPixSender({
      stateOf: () => Promise.resolve('ready'),
      send: (_, { transferId }) => {
        sent.push(transferId)
        return Promise.resolve()
      },
    })
    const { id } = await a.receipt({ cashAccountId: bankId, amount: 9_000, receivedOn: a.house.today })
    const refund = (amount: number) =>
      a.good(a.finance, 'POST', at(id, 'refund'), {
        via: 'transfer',
        amount,
        payee: { keyType: 'email', key: 'ana@clientes.example' },
        reason: 'Paid too much',
      })
    const first = await refund(4_000)
    expect(first).to.include({ refundReserved: 4_000, refunded: 0, available: 5_000 })
    expect(await a.refused(a.finance, 'POST', at(id, 'reverse'), { reason: 'Bounced' })).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const transfer = `cash/transfers/${first.refunds[0].cashTransferId}`
    expect(await a.refused(a.finance, 'POST', `${transfer}/approve`, {})).to.deep.equal([403, 'self_approval'])
    await a.good(a.owner, 'POST', `${transfer}/approve`, {})
    expect(sent).to.deep.equal([first.refunds[0].cashTransferId])
    await a.house.inHouse(async (trx) => {
      await beginSending(trx, sent[0] ?? '')
      const done = { status: 'completed', endToEndId: null, fee: 0, on: a.house.today } as const
      await settleTransfer(trx, sent[0] ?? '', done)
      await settleTransfer(trx, sent[0] ?? '', done)
    })
    expect(await a.read(id)).to.include({ refundReserved: 4_000, refunded: 4_000, available: 5_000 })
    const second = await refund(5_000)
    await a.good(a.finance, 'POST', `cash/transfers/${second.refunds[1].cashTransferId}/cancel`, { reason: 'Not yet' })
    const after = await a.read(id)
    expect(after).to.include({ refundReserved: 4_000, refunded: 4_000, available: 5_000 })
    expect(after.refunds.map(({ status }: Parsed) => status)).to.deep.equal(['succeeded', 'failed'])
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('is asked for by a link to pay an invoice', async () => {
    const invoice = await a.plain(await a.customer(), [7_000])
    const link = {
      amount: 7_000,
      currency: 'BRL',
      targetType: 'receivable',
      targetId: invoice.id,
      description: 'NF 12',
    }
    const made = await a.good(a.owner, 'POST', 'payments/links', link)
    expect(made).to.include({ channel: 'link', targetType: 'receivable', status: 'created' })
  })

  it('of another tenant is not there', async () => {
    const other = await openReceipts(world, { ofHouse: true })
    const bank = await other.bank()
    const { id } = await other.receipt({ cashAccountId: bank, amount: 100, receivedOn: other.house.today })
    expect(await a.refused(a.owner, 'GET', `${a.path}/${id}`)).to.deep.equal([404, 'not_found'])
    expect(await a.refused(a.owner, 'POST', at(id, 'reverse'), { reason: 'Theirs' })).to.deep.equal([404, 'not_found'])
    const theirs = await other.customer()
    const invoice = await other.plain(theirs, [100])
    const mine = await a.receipt({ cashAccountId: bankId, amount: 100, receivedOn: a.house.today })
    expect(
      await a.refused(a.owner, 'POST', at(mine.id, 'allocations'), {
        allocations: [{ installmentId: invoice.installments[0]?.id }],
      }),
    ).to.deep.equal([422, 'reference_not_found'])
    expect(
      await a.refused(a.owner, 'POST', 'accounts-receivable/credit-notes', {
        receivableId: invoice.id,
        reason: 'Theirs',
      }),
    ).to.deep.equal([404, 'not_found'])
  })
})
