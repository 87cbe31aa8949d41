import { expect } from 'chai'
import { addDays, daysBetween } from '../../config/time.ts'
import { inPlatform } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { sweepPixJob } from '../../jobs/cash.ts'
import { openPayables } from '../accounts-payable/desk.ts'
import { openReceivables } from '../accounts-receivable/clerk.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'

type Reply = [number, Parsed]
const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))
/** The number of each outcome: `201`, or the code of a refusal. */
const outcomes = (replies: readonly Reply[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const [status, body] of replies) {
    const name = status < 300 ? String(status) : String(body.code)
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}
const nonZero = (balances: Record<string, number>) =>
  Object.fromEntries(Object.entries(balances).filter(([, value]) => value !== 0))

describe('stories of money with a crowd at each step', function () {
  this.timeout(180_000)
  const world = useWorld()

  it('bills with taxes withheld leave in batches of which some fail, and to the cent', async () => {
    const a = await openPayables(world)
    const { bookId, finance, owner, good, on } = a
    const today = a.house.today
    const bankId = await a.bank(1_000_000, on('01-01'))
    const key = { type: 'email', key: 'caixa@pousada.example' }
    const connection = { provider: 'sandbox', credentials: { clientId: 'pousada', clientSecret: 'right' } }
    await good(owner, 'PUT', `cash/accounts/${bankId}/pix`, { keys: [key], connection })
    const bands = [{ from: 0, approvals: 1, roles: ['owner', 'manager'] }]
    const policy = { bands, coolOffHours: 0, priceTolerance: 200 }
    await good(owner, 'PUT', 'accounts-payable/approval-policy', policy)
    await good(owner, 'PUT', `accounts-payable/approval-policy?bookId=${bookId}`, policy)
    await world.drain()
    const liabilityAccountId = await a.account('2.1.3.07')
    const code = (name: string, rate: number) =>
      good(finance, 'POST', 'financial/tax-codes', {
        bookId,
        kind: 'withheld_from_suppliers',
        code: name,
        name,
        liabilityAccountId,
        rate,
        validFrom: on('01-01'),
        payeeName: 'Receita Federal',
        dueDay: 20,
      }).then(({ id }) => ({ taxCodeId: id as string }))
    const [irrf, inss] = [await code('IRRF', 15_000), await code('INSS', 110_000)]
    const details = async (supplierId: string, email: string) => {
      const path = `accounts-payable/suppliers/${supplierId}`
      const bankDetails = { details: { keyType: 'email', key: email } }
      const { pendingBankDetails } = await good(finance, 'PATCH', path, { bankDetails })
      const decision = { version: pendingBankDetails.version, decision: 'approve' }
      await good(owner, 'POST', `${path}/bank-details/approve`, decision)
    }
    const suppliers: string[] = []
    for (const name of ['obra', 'luz', 'horta']) {
      const { id } = await a.supplier({ legalName: name })
      await details(id, `${name}@fornecedor.example`)
      suppliers.push(id)
    }
    const [works, light, garden] = suppliers
    const accountId = await a.account('6.4.03')
    const bodyOf = (supplierId: string | undefined, number: string, amount: number, more: object = {}) => ({
      bookId,
      supplierId,
      kind: 'bill',
      number,
      issuedOn: on('03-10'),
      lines: [{ description: 'Services', accountId, amount }],
      submit: true,
      ...more,
    })
    const parts = (amounts: number[]) => amounts.map((amount, index) => ({ dueOn: on(`0${index + 4}-10`), amount }))
    // 1,500.015 and 11,000.11 of tax leave 87,501 in three parts.
    const first = bodyOf(works, 'A-1', 100_001, {
      withholdings: [irrf, inss],
      installments: parts([29_167, 29_167, 29_167]),
    })
    await a.calm()
    const recorded = await times(30, () => a.send(finance, 'POST', 'accounts-payable/payables', first))
    expect(outcomes(recorded)).to.deep.equal({ 201: 1, duplicate_payable: 29 })
    await a.calm()
    const one = recorded.find(([status]) => status === 201)![1]
    expect(one).to.include({ withheld: 12_500, net: 87_501 })
    const two = await good(
      finance,
      'POST',
      'accounts-payable/payables',
      bodyOf(light, 'B-1', 33_335, { withholdings: [irrf] }),
    )
    expect(two).to.include({ withheld: 500, net: 32_835 })
    const three = await good(
      finance,
      'POST',
      'accounts-payable/payables',
      bodyOf(garden, 'C-1', 50_000, { installments: parts([25_000, 25_000]) }),
    )
    const approve = (id: string, desk = owner) => a.send(desk, 'POST', `accounts-payable/payables/${id}/approve`, {})
    const approvals = await times(20, (index) => approve(one.id, index % 2 === 0 ? owner : a.manager))
    // The last approval ends it: who comes later finds it approved.
    expect(outcomes(approvals)).to.deep.equal({ 200: 20 })
    for (const { id } of [two, three]) expect((await approve(id))[0]).to.equal(200)
    await a.calm()
    await world.drain()

    const payments = 'accounts-payable/payments'
    const [b1, b2, b3] = [one, two, three].map(({ installments }) => installments as Parsed[])
    const items = [b1?.[0], b2?.[0], b3?.[0]].map((part) => ({ installmentId: part?.id as string }))
    const pix = (reference: string, some: object[]) => ({
      method: 'pix',
      cashAccountId: bankId,
      items: some,
      reference,
    })
    const batches = await times(25, () => a.send(finance, 'POST', payments, pix('Lote 1', items)))
    expect(outcomes(batches)).to.deep.equal({ 201: 1, installment_in_payment: 24 })
    await a.calm()
    const batch = batches.find(([status]) => status === 201)![1]
    const path = `${payments}/${batch.id}`
    // Between approval and sending one payee changes, and a bill is held.
    const clicked = await times(20, () => a.send(owner, 'POST', `${path}/approve`))
    expect(outcomes(clicked)).to.deep.equal({ 200: 20 })
    await details(light ?? '', 'outra@fornecedor.example')
    const held = `accounts-payable/payables/${three.id}`
    await good(finance, 'PATCH', held, { onHold: true, holdReason: 'Rotten' })
    await a.calm()
    await world.drain()
    const sent = await good(finance, 'GET', path)
    expect(sent).to.include({ status: 'partly_paid' })
    expect(sent.items.map(({ status, failure }: Parsed) => [status, failure?.code ?? null])).to.deep.equal([
      ['paid', null],
      ['failed', 'payee_changed'],
      ['failed', 'on_hold'],
    ])
    await good(finance, 'PATCH', held, { onHold: false })
    const rest = items.slice(1)
    const again = async (reference: string): Promise<string> => {
      const { id } = await good(finance, 'POST', payments, pix(reference, rest))
      await good(owner, 'POST', `${payments}/${id}/approve`)
      await world.drain()
      return id as string
    }
    const refused = await again('send_refused')
    expect(await good(finance, 'GET', `${payments}/${refused}`)).to.include({ status: 'failed' })
    const lost = await again('send_unknown_paid')
    expect(await good(finance, 'GET', `${payments}/${lost}`)).to.include({ status: 'sending' })
    // Neither by hand nor by another batch are they paid while their outcome is not known.
    const other = { method: 'manual', cashAccountId: bankId, items: rest }
    expect(await a.refused(finance, 'POST', payments, other)).to.deep.equal([409, 'installment_in_payment'])
    await a.rows(
      `update cash_transfer set next_read_at = now() where tenant_id = :tenantId and status = 'unknown' returning id`,
    )
    await inPlatform((trx) => enqueue(trx, sweepPixJob, {}))
    await world.drain()
    expect(await good(finance, 'GET', `${payments}/${lost}`)).to.include({ status: 'paid' })
    await a.calm()

    const advance = await good(finance, 'POST', payments, {
      method: 'manual',
      cashAccountId: bankId,
      payOn: today,
      items: [{ advance: { supplierId: garden }, principal: 10_000 }],
    })
    const setOff = {
      method: 'credit',
      creditId: advance.items[0].creditId,
      items: [{ installmentId: b3?.[1]?.id, principal: 10_000 }],
    }
    const used = await times(30, () => a.send(finance, 'POST', payments, setOff))
    expect(outcomes(used)).to.deep.equal({ 201: 1, credit_exceeded: 29 })
    await a.calm()
    const late = { installmentId: b1?.[1]?.id, principal: 10_000, interest: 100 }
    const byHand = { method: 'manual', cashAccountId: bankId, payOn: today, items: [late] }
    const paid = await times(50, () => a.send(finance, 'POST', payments, byHand))
    expect(outcomes(paid)).to.deep.equal({ 201: 2, amount_exceeds_open: 48 })
    await a.calm()
    const { data: drafts } = await good(
      finance,
      'GET',
      `accounts-payable/payables?bookId=${bookId}&kind=tax&sort=gross`,
    )
    expect((drafts as Parsed[]).map(({ gross, status }) => [gross, status])).to.deep.equal([
      [2_000, 'draft'],
      [11_000, 'draft'],
    ])
    const { id: taxId } = drafts[0]
    const tax = await good(finance, 'POST', `accounts-payable/payables/${taxId}/submit`, {})
    await approve(taxId)
    await good(finance, 'POST', payments, { ...byHand, items: [{ installmentId: tax.installments[0].id }] })
    await world.drain()
    expect(nonZero(await a.balances(on('01-01'), today))).to.deep.equal({
      '1.1.2.01': 880_798,
      '2.1.1.01': -53_334,
      '2.1.3.07': -11_000,
      '3.9.01': -1_000_000,
      '6.4.03': 183_336,
      '8.1': 200,
    })
    expect(await good(finance, 'GET', `cash/accounts/${bankId}`)).to.include({ balance: 880_798 })
    const { totals } = await good(finance, 'GET', `accounts-payable/ageing?bookId=${bookId}`)
    expect(totals).to.include({ total: 53_334, credits: 0 })
    expect(await a.failing()).to.deep.equal([])
  })

  it('invoices are limited, paid in part, credited, charged for delay, reminded of and reversed, to the cent', async () => {
    const a = await openReceivables(world)
    const { bookId, finance, owner, good, on, path } = a
    const today = a.house.today
    // A house of the book writes to its customers.
    await a.property()
    const { id: bankId } = await good(finance, 'POST', 'cash/accounts', {
      bookId,
      kind: 'bank',
      code: 'B',
      name: 'Banco',
    })
    await good(owner, 'PUT', `${path}/settings?bookId=${bookId}`, {
      lateCharges: { fineRate: 200, monthlyInterestRate: 100 },
      dunning: {
        enabled: true,
        minimum: 0,
        hour: 9,
        steps: [{ level: 1, days: 5, channels: ['email'], stopCredit: false }],
      },
    })
    const iss = await good(finance, 'POST', 'financial/tax-codes', {
      bookId,
      kind: 'document',
      code: 'ISS',
      name: 'ISS',
      liabilityAccountId: await a.account('2.1.3.01'),
      contraAccountId: await a.account('4.8.01'),
      rate: 50_000,
      validFrom: on('01-01'),
    })
    const { id: customerId } = await a.customer({ creditLimit: 200_000, email: 'contas@firma.example' })
    const hall = { description: 'Hall', unitAmount: 90_000, accountId: await a.account('4.2.04'), taxCodeId: iss.id }
    const draft = await a.invoice({
      issue: false,
      customerId,
      issuedOn: on('05-02'),
      lines: [hall, await a.line(10_001)],
      installments: [33_334, 33_334, 33_333].map((amount, index) => ({ dueOn: on(`0${index + 6}-01`), amount })),
    })
    const one = `${path}/receivables/${draft.id}`
    const issues = await times(30, () => a.send(finance, 'POST', `${one}/issue`, {}))
    expect(outcomes(issues)).to.deep.equal({ 200: 30 })
    await a.calm()
    const small = { bookId, customerId, issuedOn: today, lines: [await a.line(10_000)], issue: true }
    const crowd = await times(40, () => a.send(finance, 'POST', `${path}/receivables`, small))
    // 99,999 are left of the limit.
    expect(outcomes(crowd)).to.deep.equal({ 201: 9, credit_limit_exceeded: 31 })
    await a.calm()
    await world.drain()
    expect(await a.customerNow(customerId)).to.include({ exposure: 190_001 })
    const numbers = await a.rows<{ number: number; year: string }>(
      `select number, series as year from receivable where book_id = :bookId and number is not null order by series, number`,
    )
    expect(numbers.map(({ number }) => Number(number))).to.deep.equal([
      1,
      ...Array.from({ length: 9 }, (_, at) => at + 1),
    ])

    const [i1] = (await a.read(draft.id)).installments as Parsed[]
    const receipt = (body: object) =>
      good(finance, 'POST', `${path}/receipts`, { cashAccountId: bankId, method: 'bank', ...body })
    const money = await receipt({ customerId, amount: 20_000, receivedOn: on('06-11') })
    const part = { on: on('06-11'), allocations: [{ installmentId: i1?.id, principal: 20_000 }] }
    const shares = await times(25, () => a.send(finance, 'POST', `${path}/receipts/${money.id}/allocations`, part))
    const { 200: once = 0, 201: made = 0, ...others } = outcomes(shares)
    expect([once + made, Object.values(others).reduce((sum, count) => sum + count, 0)]).to.deep.equal([1, 24])
    await a.calm()
    const note = { receivableId: draft.id, amount: 45_000, issuedOn: on('07-15'), reason: 'Noise' }
    const credits = await times(20, () => a.send(finance, 'POST', `${path}/credit-notes`, note))
    // 45,000 off what is open, then 35,001 off the rest of it and 9,999 of what was paid.
    expect(outcomes(credits)).to.deep.equal({ 201: 2, credit_exceeds_invoice: 18 })
    const noted = credits.flatMap(([status, body]) => (status === 201 ? [[body.applied, body.excess]] : []))
    expect(noted.toSorted(([x], [y]) => y - x)).to.deep.equal([
      [45_000, 0],
      [35_001, 9_999],
    ])
    await a.calm()
    expect(await a.read(draft.id)).to.include({ status: 'paid', settled: 20_000, credited: 80_001, open: 0 })
    const back = await times(20, () =>
      a.send(finance, 'POST', `${path}/receipts/${money.id}/reverse`, { reason: 'Bounced' }),
    )
    expect(outcomes(back)).to.deep.equal({ 200: 20 })
    await a.calm()
    expect(await a.read(draft.id)).to.include({ status: 'partly_paid', settled: 0, open: 20_000 })
    const { data: left } = await good(finance, 'GET', `${path}/receipts?customerId=${customerId}&available=true`)
    expect((left as Parsed[]).map(({ sourceType, available }) => [sourceType, available])).to.deep.equal([
      ['credit_note', 9_999],
    ])
    await good(finance, 'POST', `${path}/receipts/${left[0].id}/allocations`, { auto: true })
    expect(await a.read(draft.id)).to.include({ open: 10_001 })

    // Fifteen days late: 2 % of 12,345 are 246.9, half of 1 % is 61.725.
    const { id: slow } = await a.customer({ email: 'lento@firma.example' })
    const dueOn = addDays(today, -15)
    const overdue = async (amount: number) => {
      const issuedOn = addDays(today, -40)
      const installments = [{ dueOn, amount }]
      const { id } = await a.invoice({ customerId: slow, issuedOn, lines: [await a.line(amount)], installments })
      await world.drain()
      return ((await a.read(id)).installments as Parsed[])[0]?.id as string
    }
    const [charged, reminded] = [await overdue(12_345), await overdue(5_000)]
    expect(daysBetween(dueOn, today)).to.equal(15)
    const { data: listed } = await good(finance, 'GET', `${path}/installments?customerId=${slow}&overdue=true`)
    const row = (listed as Parsed[]).find(({ id }) => id === charged)
    expect(row).to.deep.include({
      open: 12_345,
      daysOverdue: 15,
      lateCharges: { fine: 247, interest: 62, asOf: today },
    })
    const whole = { customerId: slow, amount: 12_654, receivedOn: today }
    await receipt({ ...whole, allocations: [{ installmentId: charged, principal: 12_345, fine: 247, interest: 62 }] })
    await a.calm()
    const runs = await times(20, () => a.send(owner, 'POST', `${path}/dunning-runs`, { bookId }))
    expect(new Set(runs.map(([, body]) => body.id)).size).to.equal(1)
    expect(runs.filter(([status]) => status === 201)).to.have.length(1)
    await a.calm()
    await world.drain({ kinds: ['messages.run-dunning'] })
    // Paid on the day of the reminder, before it leaves.
    await receipt({ customerId: slow, amount: 5_000, receivedOn: today, auto: true })
    await world.drain()
    const { data: notices } = await good(finance, 'GET', `${path}/dunning-notices?customerId=${slow}`)
    expect(
      (notices as Parsed[]).map(({ installmentId, status, skipReason }) => [installmentId, status, skipReason]),
    ).to.deep.equal([[reminded, 'skipped', 'settled']])
    expect(nonZero(await a.balances(on('01-01'), today))).to.deep.equal({
      '1.1.2.01': 17_654,
      '1.1.3.02': 100_001,
      '2.1.3.01': -450,
      '4.2.04': -9_000,
      '4.3.08': -108_346,
      '4.8.01': 450,
      '7.1': -309,
    })
    expect(await a.customerNow(customerId)).to.include({ exposure: 100_001 })
    const { totals } = await good(finance, 'GET', `${path}/ageing?bookId=${bookId}`)
    expect(totals).to.include({ total: 100_001, availableReceipts: 0 })
    expect(await a.failingIn(bookId)).to.deep.equal([])
  })
})
