import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { brCodeOf } from '../../config/br-code.ts'
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
})
