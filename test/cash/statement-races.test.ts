import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import {
  changeCashAccount,
  importStatement,
  matchLine,
  receiveStatement,
  reconcileStatement,
  recordMovement,
  reopenStatement,
  unmatchLine,
} from '../../db/cash/index.ts'
import type { ParsedLine } from '../../db/cash/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { inTenant, sql, sqlOne } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'
import { statementsIn } from '../support/statements.ts'
import { as, makeTill, numbersOf, refusal } from './support.ts'
import type { Till } from './support.ts'

describe('many at one statement', function () {
  this.timeout(60_000)
  useDatabase()
  let till: Till
  beforeEach(async () => {
    till = await makeTill()
  })

  const asked = { expected: null, scope: always, features: [] }
  const line = (amount: number, text: string): ParsedLine => ({
    bookedOn: till.today,
    amount,
    externalId: null,
    documentNumber: null,
    text,
    counterpartyDocument: null,
    endToEndId: null,
  })
  const parsed = (lines: ParsedLine[], closing: number | null = null) => ({
    bank: null,
    account: null,
    currency: null,
    from: null,
    to: null,
    opening: null,
    closing,
    lines,
  })
  const receive = (content: string) =>
    as(till, till.cashier, (trx) =>
      receiveStatement(trx, {
        cashAccountId: till.bankId,
        format: 'ofx',
        fileName: 'x.ofx',
        content: Buffer.from(content).toString('base64'),
      }),
    )
  const take = (id: string, lines: ParsedLine[], closing?: number) =>
    inTenant(till.tenantId, (trx) => importStatement(trx, id, parsed(lines, closing ?? null)))
  const movement = (amount: number) =>
    as(till, till.cashier, async (trx) => {
      const booked = await recordMovement(trx, {
        cashAccountId: till.bankId,
        amount,
        kind: 'receipt',
        source: { type: 'receipt', id: randomUUID() },
        description: 'Money',
      })
      return booked.movementId
    })
  const linesOf = (statementId: string) =>
    inTenant(till.tenantId, (trx) =>
      sql<{ id: string; amount: number; status: string }>(
        trx,
        `select id, amount, status from bank_statement_line where bank_statement_id = ? order by position`,
        [statementId],
      ),
    )
  const match = (id: string, cashMovementId: string, amount?: number) =>
    as(till, till.cashier, (trx) => matchLine(trx, id, [{ cashMovementId, amount }], asked))
  const unmatch = (id: string) =>
    as(till, till.cashier, (trx) => unmatchLine(trx, id, { expected: null, reason: 'Undone' }))
  const reconcile = (id: string) =>
    as(till, till.cashier, (trx) => reconcileStatement(trx, id, { closingBalance: undefined, expected: null }))

  it('a file is kept once, and files that overlap add each line once', async () => {
    const sent = await Promise.all(Array.from({ length: 5 }, () => refusal(receive('one file'))))
    expect(sent.toSorted()).to.deep.equal(['done', ...Array<string>(4).fill('statement_exists')])
    const ids = await Promise.all(['a', 'b', 'c'].map(receive))
    const real = [line(100, 'A'), line(100, 'A'), line(-50, 'B')]
    const files = [real, [real[0]!, real[1]!], [real[2]!, line(7, 'C')]]
    await Promise.all(ids.map((id, index) => take(id, files[index]!)))
    // Again: a job that comes twice changes nothing.
    await Promise.all(ids.map((id, index) => take(id, files[index]!)))
    const found = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ lines: number; total: number; read: number; added: number; known: number }>(
        trx,
        `select (select count(*) from bank_statement_line) as lines, (select sum(amount)::bigint from bank_statement_line) as total,
           sum(lines_read)::int as read, sum(lines_added)::int as added, sum(lines_known)::int as known from bank_statement where status = 'imported'`,
      ),
    )
    expect(found).to.deep.equal({ lines: 4, total: 157, read: 7, added: 4, known: 3 })
  })

  it('10,000 lines are taken in, each once', async () => {
    const id = await receive('large')
    await take(
      id,
      Array.from({ length: 10_000 }, (_, index) => line(index + 1, `Line ${index}`)),
    )
    expect(await linesOf(id)).to.have.length(10_000)
  })

  it('many lines with end-to-end ids are matched at once, each with one movement', async () => {
    const endToEnd = (index: number) => `E${String(index).padStart(20, '0')}ABCDEFGHIJK`
    const sums = Array.from({ length: 60 }, (_, index) => index + 1)
    for (const amount of sums)
      await as(till, till.cashier, (trx) =>
        recordMovement(trx, {
          cashAccountId: till.bankId,
          amount,
          kind: 'receipt',
          source: { type: 'receipt', id: randomUUID() },
          description: 'Money',
          endToEndId: endToEnd(amount),
        }),
      )
    const id = await receive('ids')
    // Two lines name the money of the first, and one of them proves it; the last has another amount.
    const lines = sums.map((amount) => ({ ...line(amount, `Pix ${amount}`), endToEndId: endToEnd(amount) }))
    await take(id, [
      ...lines,
      { ...line(1, 'Again'), endToEndId: endToEnd(1) },
      { ...line(7, 'X'), endToEndId: endToEnd(2) },
    ])
    const found = await linesOf(id)
    expect(found.filter(({ status }) => status === 'matched')).to.have.length(60)
    expect(await numbersOf(till, till.bankId)).to.include({ cleared: sums.reduce((all, one) => all + one, 0) })
    const told = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ count: number }>(trx, `select count(*) as count from event where type = 'statement_line.matched'`),
    )
    expect(told?.count).to.equal(60)
  })

  it('lines of an automatic rule are booked together, in as many statements for 200 as for ten', async () => {
    const fee = await inTenant(till.tenantId, (trx) =>
      sqlOne<{ id: string }>(trx, `select id from account where code = '6.1.10'`),
    )
    const rule = {
      name: 'Fees',
      when: { direction: 'any' as const, textContains: ['fee'] },
      // oxlint-disable-next-line unicorn/no-thenable -- the word of the contract
      then: { accountId: fee!.id },
      automatic: true,
    }
    await as(till, till.cashier, (trx) => changeCashAccount(trx, till.bankId, { matchRules: [rule] }))
    const taking = async (name: string, count: number): Promise<number> => {
      const id = await receive(name)
      const lines = Array.from({ length: count }, (_, index) => line(-1 - index, `FEE ${name} ${index}`))
      return (await statementsIn(() => take(id, [...lines, line(5, `OTHER ${name}`)]))).length
    }
    const [few, many] = [await taking('few', 10), await taking('many', 200)]
    expect(many).to.be.at.most(few)
    const booked = (10 * 11) / 2 + (200 * 201) / 2
    expect(await numbersOf(till, till.bankId)).to.include({
      balance: 100_000 - booked,
      summed: 100_000 - booked,
      cleared: -booked,
      movementCount: 211,
    })
    const found = await inTenant(till.tenantId, (trx) =>
      sqlOne<Record<string, number>>(
        trx,
        `select (select count(*) from bank_statement_line where status = 'unmatched')::int as open,
           (select count(*) from statement_match where made)::int as made,
           (select count(*) from posting_event where event = 'cash.movement_recorded')::int as postings,
           (select sum(cast(payload -> 'amounts' ->> 'amount' as bigint)) from posting_event where event = 'cash.movement_recorded')::bigint as posted,
           (select count(*) from event where type = 'cash_movement.recorded' and data ->> 'kind' = 'bank_line')::int as movements,
           (select count(*) from event where type = 'statement_line.matched')::int as matched`,
      ),
    )
    expect(found).to.deep.equal({ open: 2, made: 210, postings: 210, posted: -booked, movements: 210, matched: 210 })
    const [last] = await linesOf(
      await inTenant(
        till.tenantId,
        async (trx) =>
          (await sqlOne<{ id: string }>(trx, `select id from bank_statement order by seq desc limit 1`))!.id,
      ),
    )
    await unmatch(last!.id)
    expect(await numbersOf(till, till.bankId)).to.include({ balance: 100_001 - booked, cleared: 1 - booked })
  })

  it('one movement is proven once, whoever matches it', async () => {
    const id = await receive('x')
    await take(id, [line(300, 'A'), line(300, 'B'), line(200, 'C'), line(100, 'D')])
    const [first, second, third, fourth] = await linesOf(id)
    const movementId = await movement(300)
    const outcomes = await Promise.all([
      refusal(match(first!.id, movementId)),
      refusal(match(second!.id, movementId)),
      refusal(match(first!.id, movementId)),
    ])
    expect(outcomes.filter((one) => one === 'match_not_equal').length).to.be.within(1, 2)
    expect(await numbersOf(till, till.bankId)).to.include({ cleared: 300 })
    // Many lines prove one movement in parts, never more than it is.
    const large = await movement(300)
    expect(await refusal(match(third!.id, large, 200))).to.equal('done')
    const rest = await Promise.all(Array.from({ length: 5 }, () => refusal(match(fourth!.id, large, 100))))
    expect(rest).to.deep.equal(Array<string>(5).fill('done'))
    expect(await numbersOf(till, till.bankId)).to.include({ cleared: 600 })
    const undone = await Promise.all(Array.from({ length: 5 }, () => refusal(unmatch(fourth!.id))))
    expect(undone).to.deep.equal(Array<string>(5).fill('done'))
    expect(await numbersOf(till, till.bankId)).to.include({ cleared: 500 })
  })

  it('a proof and a match that is undone meanwhile do not both stand', async () => {
    const id = await receive('y')
    await take(id, [line(300, 'A')], 100_300)
    const [only] = await linesOf(id)
    await match(only!.id, await movement(300))
    const [proven, undone] = await Promise.all([refusal(reconcile(id)), refusal(unmatch(only!.id))])
    const [after] = await linesOf(id)
    expect([proven, undone, after?.status]).to.be.deep.oneOf([
      ['done', 'movement_reconciled', 'matched'],
      ['not_reconciled', 'done', 'unmatched'],
    ])
  })

  it('the database alone refuses what a proof has frozen', async () => {
    const id = await receive('z')
    await take(id, [line(300, 'A')], 100_300)
    const [only] = await linesOf(id)
    await match(only!.id, await movement(300))
    await reconcile(id)
    const raw = (text: string) => refusal(inTenant(till.tenantId, (trx) => sql(trx, text)))
    expect(await raw(`update statement_match set undone_at = now()`)).to.equal('movement_reconciled')
    expect(await raw(`update bank_statement_line set status = 'unmatched'`)).to.equal('movement_reconciled')
    expect(await raw(`delete from bank_statement_line`)).to.equal('movement_reconciled')
    // Reconciled and opened again in one second: a statement is never later than itself.
    for (let round = 0; round < 3; round += 1) {
      await as(till, till.cashier, (trx) => reopenStatement(trx, id, { reason: 'Again', expected: null }))
      expect(await refusal(reconcile(id))).to.equal('done')
    }
  })

  it('matches always come to their line', async () => {
    const id = await receive('w')
    await take(id, [line(300, 'A')])
    const [only] = await linesOf(id)
    const movementId = await movement(300)
    const raw = (text: string, values: unknown[]) =>
      refusal(inTenant(till.tenantId, (trx) => sql(trx, text, values as string[])))
    expect(
      await raw(`insert into statement_match (line_id, cash_movement_id, amount) values (?, ?, 299)`, [
        only!.id,
        movementId,
      ]),
    ).to.equal('match_not_equal')
    expect(await raw(`update bank_statement_line set status = 'matched' where id = ?`, [only!.id])).to.equal(
      'match_not_equal',
    )
    expect(await numbersOf(till, till.bankId)).to.include({ cleared: 0 })
  })
})
