import { expect } from 'chai'
import { useWorld } from '../support/world.ts'
import { openPayables } from '../accounts-payable/desk.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? 20261123)
const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 4)

/** Numbers that follow from a seed alone: mulberry32. */
const randomOf = (start: number) => {
  let state = start
  return (most: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

describe('money in and out, by generated commands of many people at once', function () {
  this.timeout(240_000)
  const world = useWorld()

  it('leaves every control account equal to the open items behind it', async () => {
    const a = await openPayables(world)
    const { bookId, finance, owner, good, on, rows, account } = a
    const random = randomOf(seed)
    const [bank, second] = [await a.bank(500_000, on('01-02')), await a.bank(100_000, on('01-02'))]
    const [income, expense] = [await account('4.3.08'), await account('6.1.03')]
    const customers: string[] = []
    for (const legalName of ['Ondas Turismo', 'Serra Viagens'])
      customers.push(
        (await good(finance, 'POST', 'accounts-receivable/customers', { kind: 'company', legalName, currency: 'BRL' }))
          .id,
      )
    const suppliers = [(await a.supplier()).id as string, (await a.supplier()).id as string]
    const ar = 'accounts-receivable'
    const ap = 'accounts-payable'
    const ids = async (text: string): Promise<string[]> => (await rows<{ id: string }>(text)).map(({ id }) => id)
    const one = async (text: string): Promise<string | null> => {
      const found = await ids(text)
      return found[random(Math.max(1, found.length))] ?? null
    }
    const amount = () => 1 + random(9_000)
    const day = () => on(`0${5 + random(4)}-${String(1 + random(27)).padStart(2, '0')}`)
    type Command = () => Promise<[string, string, object?] | null>
    const of =
      (text: string, make: (id: string) => [string, string, object?]): Command =>
      async () => {
        const id = await one(text)
        return id === null ? null : make(id)
      }
    const receipts = `select id from receipt where book_id = :bookId`
    const invoices = `select id from receivable where book_id = :bookId and status <> 'draft'`
    const openBills = `select i.id from payable_installment i join payable p on p.id = i.payable_id where p.book_id = :bookId
      and p.status in ('approved', 'partly_paid', 'paid')`
    const payments = `select id from payable_payment where book_id = :bookId`
    const credits = `select id from supplier_credit where book_id = :bookId`
    const commands: Command[] = [
      () =>
        Promise.resolve([
          'POST',
          `${ar}/receivables`,
          {
            bookId,
            customerId: customers[random(2)],
            issuedOn: day(),
            issue: true,
            lines: [{ description: 'Hall', unitAmount: amount() * 3, accountId: income }],
          },
        ]),
      () =>
        Promise.resolve([
          'POST',
          `${ar}/receipts`,
          {
            customerId: customers[random(2)],
            cashAccountId: [bank, second][random(2)],
            method: 'bank',
            amount: amount(),
            receivedOn: day(),
            ...(random(2) === 0 ? { auto: true } : {}),
          },
        ]),
      of(receipts, (id) => ['POST', `${ar}/receipts/${id}/allocations`, { auto: true }]),
      async () => {
        const allocation = await one(
          `select x.receipt_id || '/allocations/' || x.id as id from receipt_allocation x join receipt r on r.id = x.receipt_id where r.book_id = :bookId`,
        )
        return allocation === null ? null : ['DELETE', `${ar}/receipts/${allocation}`]
      },
      of(receipts, (id) => [
        'POST',
        `${ar}/receipts/${id}/refund`,
        { via: 'manual', amount: amount(), cashAccountId: bank, reason: 'Paid too much' },
      ]),
      of(receipts, (id) => ['POST', `${ar}/receipts/${id}/reverse`, { reason: 'Bounced' }]),
      of(invoices, (id) => ['POST', `${ar}/credit-notes`, { receivableId: id, amount: amount(), reason: 'Discount' }]),
      of(invoices, (id) => ['POST', `${ar}/receivables/${id}/write-off`, { reason: 'Lost' }]),
      of(invoices, (id) => ['POST', `${ar}/receivables/${id}/reinstate`, { reason: 'Found' }]),
      of(invoices, (id) => ['POST', `${ar}/receivables/${id}/void`, { reason: 'A mistake' }]),
      () =>
        Promise.resolve([
          'POST',
          `${ap}/payables`,
          {
            bookId,
            supplierId: suppliers[random(2)],
            kind: 'bill',
            issuedOn: day(),
            submit: true,
            lines: [{ description: 'Fruit', accountId: expense, amount: amount() * 3 }],
          },
        ]),
      of(openBills, (id) => [
        'POST',
        `${ap}/payments`,
        {
          method: 'manual',
          cashAccountId: bank,
          payOn: day(),
          items: [{ installmentId: id, principal: amount(), ...(random(3) === 0 ? { interest: 7 } : {}) }],
        },
      ]),
      () =>
        Promise.resolve([
          'POST',
          `${ap}/payments`,
          {
            method: 'manual',
            cashAccountId: second,
            payOn: day(),
            items: [{ advance: { supplierId: suppliers[random(2)] }, principal: amount() }],
          },
        ]),
      () =>
        Promise.resolve([
          'POST',
          `${ap}/credits`,
          { bookId, supplierId: suppliers[random(2)], issuedOn: day(), amount: amount(), accountId: expense },
        ]),
      async () => {
        const [creditId, installmentId] = [await one(credits), await one(openBills)]
        if (creditId === null || installmentId === null) return null
        return [
          'POST',
          `${ap}/payments`,
          { method: 'credit', creditId, items: [{ installmentId, principal: amount() }] },
        ]
      },
      of(payments, (id) => ['POST', `${ap}/payments/${id}/void`, { reason: 'A mistake' }]),
      of(credits, (id) => [
        'POST',
        `${ap}/credits/${id}/refund`,
        { amount: amount(), cashAccountId: second, receivedOn: on('10-02') },
      ]),
      of(credits, (id) => ['POST', `${ap}/credits/${id}/void`, { reason: 'A mistake' }]),
      of(`select id from payable where book_id = :bookId`, (id) => [
        'POST',
        `${ap}/payables/${id}/void`,
        { reason: 'A mistake' },
      ]),
      () =>
        Promise.resolve([
          'POST',
          'cash/transfers',
          {
            fromAccountId: bank,
            toAccountId: second,
            method: 'manual',
            amount: amount(),
            fee: random(3),
            purpose: 'Between banks',
            sentOn: day(),
            ...(random(2) === 0 ? { receivedOn: on('10-02') } : {}),
          },
        ]),
      of(`select id from cash_transfer where book_id = :bookId`, (id) => [
        'POST',
        `cash/transfers/${id}/${random(2) === 0 ? 'confirm' : 'cancel'}`,
        {},
      ]),
      () =>
        Promise.resolve([
          'POST',
          'cash/movements',
          {
            cashAccountId: second,
            amount: amount() * (random(2) === 0 ? 1 : -1),
            bookedOn: day(),
            accountId: expense,
            description: 'By hand',
          },
        ]),
      of(`select id from cash_movement where book_id = :bookId`, (id) => [
        'POST',
        `cash/movements/${id}/reverse`,
        { reason: 'A mistake' },
      ]),
    ]
    const done = new Map<string, number>()
    for (let round = 0; round < rounds; round += 1) {
      await a.calm()
      // In pairs: the same command of two people, and much else beside it. Each command once, in an order of its own.
      const order = commands.map((command) => ({ command, at: random(1_000_000) })).sort((one, two) => one.at - two.at)
      const asked = (await Promise.all(order.map(({ command }) => command()))).flatMap((command) =>
        command ? [command, command] : [],
      )
      const replies = await Promise.all(
        asked.map(([method, path, body], index) => {
          const given = path.endsWith('/confirm')
            ? { receivedOn: on('10-03') }
            : path.endsWith('/cancel')
              ? { reason: 'Not needed' }
              : body
          return a.send(index % 2 === 0 ? finance : owner, method, path, given)
        }),
      )
      for (const [index, [status, reply]] of replies.entries()) {
        const [method = '', path = ''] = asked[index] ?? []
        // The second of two deletions finds nothing.
        const known = [200, 201, 403, 409, 422, ...(method === 'DELETE' ? [404] : [])]
        expect(known, `seed ${seed}: ${method} ${path} ${JSON.stringify(reply)}`).to.include(status)
        const name = `${method} ${path.replaceAll(/[0-9a-f-]{36}/g, ':id')}`
        if (status < 300) done.set(name, (done.get(name) ?? 0) + 1)
      }
      for (const id of await ids(`select id from payable where book_id = :bookId and status = 'awaiting_approval'`))
        await a.send(owner, 'POST', `${ap}/payables/${id}/approve`, {})
      await world.drain()
      expect(await a.failing(), `seed ${seed}, round ${round}`).to.deep.equal([])
    }
    expect([...done.keys()].length).to.be.greaterThan(12)
    const sums = await rows<{ name: string; ok: boolean }>(
      `select 'account' as name, balance = (select coalesce(sum(m.amount), 0) from cash_movement m where m.cash_account_id = a.id) as ok
         from cash_account a where a.book_id = :bookId
       union all select 'receivable', r.settled = (select coalesce(sum(x.principal), 0) from receipt_allocation x join receivable_installment i
         on i.id = x.installment_id where i.receivable_id = r.id) from receivable r where r.book_id = :bookId
       union all select 'installments', r.total = (select sum(i.amount) from receivable_installment i where i.receivable_id = r.id)
         from receivable r where r.book_id = :bookId and r.status not in ('draft', 'void')`,
    )
    expect(sums.filter(({ ok }) => !ok)).to.deep.equal([])
  })
})
