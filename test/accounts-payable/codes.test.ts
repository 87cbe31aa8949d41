import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { brCodeOf } from '../../config/br-code.ts'
import { connectedSender, registerPixSender } from '../../db/cash/index.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'

const digitOf = (digits: string): number => {
  const sum = digits
    .split('')
    .toReversed()
    .reduce((total, digit, at) => {
      const one = Number(digit) * (at % 2 === 0 ? 2 : 1)
      return total + (one > 9 ? one - 9 : one)
    }, 0)
  return (10 - (sum % 10)) % 10
}
/** The line of a utility, as it is typed. */
const slipOf = (number: number, amount: number): string => {
  const rest = `${String(amount).padStart(11, '0')}0048${String(number).padStart(25, '0')}`
  const bar = `836${digitOf(`836${rest}`)}${rest}`
  return [0, 11, 22, 33]
    .map((at) => bar.slice(at, at + 11))
    .map((field) => `${field}${digitOf(field)}`)
    .join('')
}
const place = { name: 'Companhia de Luz', city: 'SAO PAULO', amount: null }
const chargeCode = () => brCodeOf({ ...place, pix: { location: `pix.example.com/qr/v2/${randomUUID()}` }, txid: '***' })
const printedCode = brCodeOf({ ...place, pix: { key: randomUUID(), text: '' }, txid: '***' })

describe('slips and Pix codes of bills', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let accountId: string
  let supplierId: string
  before(async () => {
    a = await openPayables(world)
    accountId = await a.account('6.4.03')
    supplierId = (await a.supplier()).id
  })
  beforeEach(() => a.calm())
  after(() => registerPixSender(connectedSender))

  const billOf = (installments: { dueOn: string; amount: number; boletoLine?: string; pixCode?: string }[]) => ({
    bookId: a.bookId,
    supplierId,
    kind: 'bill',
    issuedOn: a.on('03-10'),
    number: randomUUID().slice(0, 12),
    lines: [{ description: 'Energy', accountId, amount: installments.reduce((sum, { amount }) => sum + amount, 0) }],
    installments,
  })
  const dueOn = () => a.on('04-10')
  const one = (more: { boletoLine?: string; pixCode?: string }) => billOf([{ dueOn: dueOn(), amount: 500, ...more }])
  const fieldsOf = (reply: Parsed) => (reply.errors as Parsed[]).map(({ field }) => field)

  it('lists a bill under the days of an installment, and not under those between two', async () => {
    const days = [a.on('03-20'), a.on('05-20')].map((day) => ({ dueOn: day, amount: 400 }))
    const { id } = await a.good(a.finance, 'POST', bills, billOf(days))
    const isListed = async (from: string, to: string): Promise<boolean> => {
      const { data } = await a.good(a.finance, 'GET', `${bills}?dueFrom=${a.on(from)}&dueTo=${a.on(to)}&limit=100`)
      return (data as Parsed[]).some((bill) => bill.id === id)
    }
    expect(await isListed('03-20', '03-20')).to.equal(true)
    expect(await isListed('05-01', '05-31')).to.equal(true)
    expect(await isListed('03-21', '05-19')).to.equal(false)
  })

  it('stand with their own installment where two are due on one day', async () => {
    const [small, large] = [slipOf(1, 300), slipOf(2, 700)]
    const made = await a.good(
      a.finance,
      'POST',
      bills,
      billOf([
        { dueOn: dueOn(), amount: 700, boletoLine: large },
        { dueOn: dueOn(), amount: 300, boletoLine: small },
        { dueOn: dueOn(), amount: 300 },
      ]),
    )
    const shown = (made.installments as Parsed[]).map(({ amount, boletoLine }) => [amount, boletoLine])
    expect(shown).to.deep.equal([
      [700, large],
      [300, small],
      [300, null],
    ])
  })

  it('pay one bill: another with the same code is refused, also at the same time, until the first is void', async () => {
    const slip = { boletoLine: slipOf(3, 500) }
    const replies = await Promise.all(Array.from({ length: 20 }, () => a.send(a.finance, 'POST', bills, one(slip))))
    expect(replies.filter(([status]) => status === 201)).to.have.length(1)
    const first = replies.find(([status]) => status === 201)?.[1]
    for (const [status, reply] of replies.filter(([code]) => code !== 201)) {
      expect([status, reply.code, ...fieldsOf(reply)]).to.deep.equal([
        409,
        'duplicate_payable',
        'installments.0.boletoLine',
      ])
      expect(reply.errors[0].message).to.include(first?.id)
    }
    // A change keeps its own code, and takes none of another bill.
    await a.good(a.finance, 'PATCH', `${bills}/${first?.id}`, { installments: one(slip).installments })
    const other = await a.bill(one({}))
    const change = { installments: one(slip).installments }
    expect(await a.refused(a.finance, 'PATCH', `${bills}/${other.id}`, change)).to.deep.equal([
      409,
      'duplicate_payable',
    ])
    await a.good(a.finance, 'POST', `${bills}/${first?.id}/void`, { reason: 'Entered twice' })
    await a.good(a.finance, 'PATCH', `${bills}/${other.id}`, change)
  })

  it('that paid an installment, or are paying one, pay no other of the same bill', async () => {
    const [first, second] = [slipOf(7, 300), slipOf(8, 700)]
    const bill = await a.bill(
      billOf([
        { dueOn: dueOn(), amount: 300, boletoLine: first },
        { dueOn: a.on('05-10'), amount: 700, boletoLine: second },
      ]),
    )
    await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: await a.bank(1_000, a.on('01-01')),
      payOn: a.on('04-10'),
      items: [{ installmentId: bill.installments[0].id }],
    })
    const plan = (boletoLine: string) => ({ installments: [{ dueOn: a.on('06-10'), amount: 700, boletoLine }] })
    const [status, reply] = await a.send(a.finance, 'PATCH', `${bills}/${bill.id}`, plan(first))
    expect([status, reply.code, ...fieldsOf(reply)]).to.deep.equal([
      409,
      'duplicate_payable',
      'installments.0.boletoLine',
    ])
    expect(await a.good(a.finance, 'PATCH', `${bills}/${bill.id}`, plan(second))).to.include({ open: 700 })
  })

  it('of one charge pay one installment; a printed Pix code pays many bills', async () => {
    const code = chargeCode()
    const twice = [500, 600].map((amount) => ({ dueOn: dueOn(), amount, pixCode: code }))
    const [status, reply] = await a.send(a.finance, 'POST', bills, billOf(twice))
    expect([status, ...fieldsOf(reply)]).to.deep.equal([400, 'installments.1.pixCode'])
    await a.good(a.finance, 'POST', bills, one({ pixCode: code }))
    expect(await a.refused(a.finance, 'POST', bills, one({ pixCode: code }))).to.deep.equal([409, 'duplicate_payable'])
    for (let index = 0; index < 2; index += 1) await a.good(a.finance, 'POST', bills, one({ pixCode: printedCode }))
  })

  it('of one amount are chosen for no run once a part of it is paid', async () => {
    registerPixSender({ stateOf: () => Promise.resolve('ready'), send: () => Promise.resolve() })
    const codeOf = (amount: number) => brCodeOf({ ...place, amount, pix: { key: randomUUID(), text: '' }, txid: '***' })
    const due = a.on('02-10')
    const [rest, whole] = [
      await a.bill({
        ...one({}),
        issuedOn: a.on('02-01'),
        installments: [{ dueOn: due, amount: 500, pixCode: codeOf(500) }],
      }),
      await a.bill({
        ...one({}),
        issuedOn: a.on('02-01'),
        installments: [{ dueOn: due, amount: 500, pixCode: codeOf(500) }],
      }),
    ]
    const cashAccountId = await a.bank(10_000, a.on('01-01'))
    const payment = { cashAccountId, payOn: a.house.today }
    const [paidId, wholeId] = [rest, whole].map(({ installments }) => installments[0].id)
    const parts = [{ installmentId: paidId, principal: 200 }]
    await a.good(a.finance, 'POST', 'accounts-payable/payments', { ...payment, method: 'manual', items: parts })
    const run = { ...payment, method: 'pix', dryRun: true }
    const { items } = await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      ...run,
      select: { dueUntil: due },
    })
    expect((items as Parsed[]).map(({ installmentId }) => installmentId)).to.deep.equal([wholeId])
    const named = await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      ...run,
      items: [{ installmentId: paidId }],
    })
    expect((named.refusals as Parsed[]).map(({ code }) => code)).to.deep.equal(['pix_code_amount'])
    const listed = async (query: string) => {
      const { data } = await a.good(a.finance, 'GET', `accounts-payable/installments?bookId=${a.bookId}${query}`)
      const of = (id: string) => (data as Parsed[]).find((row) => row.id === id)
      return [paidId, wholeId].map((id) => [of(id)?.payableBy, of(id)?.refusals])
    }
    expect(await listed('')).to.deep.equal([
      ['none', ['pix_code_amount']],
      ['pix', []],
    ])
    const left = [{ installmentId: paidId }]
    await a.good(a.finance, 'POST', 'accounts-payable/payments', { ...payment, method: 'manual', items: left })
    expect((await listed('&open=false'))[0]).to.deep.equal(['none', ['amount_exceeds_open', 'payable_not_approved']])
  })

  it('stay with installments whose day and open amount stay, also of one that is paid in part', async () => {
    const [first, second, third] = [slipOf(21, 400), slipOf(22, 600), slipOf(23, 500)]
    const days = ['04-10', '05-10', '06-10'].map((day) => a.on(day))
    const bill = await a.bill(
      billOf([
        { dueOn: days[0] ?? '', amount: 400, boletoLine: first },
        { dueOn: days[1] ?? '', amount: 600, boletoLine: second },
        { dueOn: days[2] ?? '', amount: 500, boletoLine: third },
      ]),
    )
    await a.good(a.finance, 'POST', 'accounts-payable/payments', {
      method: 'manual',
      cashAccountId: await a.bank(1_000, a.on('01-01')),
      payOn: a.on('04-10'),
      items: [{ installmentId: bill.installments[0].id, principal: 150 }],
    })
    const shown = async (installments: object[]) => {
      const after = await a.good(a.finance, 'PATCH', `${bills}/${bill.id}`, { installments })
      return (after.installments as Parsed[])
        .filter(({ open }) => open > 0)
        .map(({ dueOn: on, open, boletoLine }) => [on, open, boletoLine])
    }
    const later = a.on('07-10')
    expect(
      await shown([
        { dueOn: days[0], amount: 250 },
        { dueOn: days[1], amount: 600 },
        { dueOn: later, amount: 500 },
      ]),
    ).to.deep.equal([
      [days[0], 250, first],
      [days[1], 600, second],
      [later, 500, null],
    ])
    // A code that another installment names goes there; null takes one away, and a part of the amount keeps none.
    expect(
      await shown([
        { dueOn: days[0], amount: 250 },
        { dueOn: days[1], amount: 600 },
        { dueOn: later, amount: 500, boletoLine: first },
      ]),
    ).to.deep.equal([
      [days[0], 250, null],
      [days[1], 600, second],
      [later, 500, first],
    ])
    expect(
      await shown([
        { dueOn: days[0], amount: 250, boletoLine: null },
        { dueOn: days[1], amount: 100 },
        { dueOn: days[1], amount: 500 },
        { dueOn: later, amount: 500, boletoLine: null },
      ]),
    ).to.deep.equal([
      [days[0], 250, null],
      [days[1], 100, null],
      [later, 500, null],
      [days[1], 500, null],
    ])
  })
})
