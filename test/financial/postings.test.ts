import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { chart, isRole, journalOf, postings } from '../../config/financial.ts'
import { chooseRule, planLines } from '../../db/financial/rules/posting-lines.ts'
import type { PlannedLine, RuleRow } from '../../db/financial/rules/posting-lines.ts'
import { selectors } from '../../db/financial/rules/selectors.ts'
import { ordinary, payloadOf } from './payloads.ts'

const sumOf = (lines: readonly PlannedLine[], side: 'debit' | 'credit') =>
  lines.reduce((total, line) => total + (line.side === side ? line.amount : 0), 0)

describe('the table of postings', () => {
  it('names only selectors that exist, and mirrors only events that it holds', () => {
    for (const { lines, mirrors: turned } of postings.values()) {
      for (const line of lines)
        expect(line.selector ? selectors : chart.map(({ role }) => role), line.target).to.include(line.target)
      for (const name of turned) expect(postings.has(name), name).to.equal(true)
    }
    expect(postings.size).to.equal(89)
  })

  it('has a command of the service behind each row, or an entry that it writes itself', () => {
    const files = readdirSync('db', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith('migrations') && !path.startsWith('demo'))
      .map((path) => readFileSync(join('db', path), 'utf8'))
    const raises = (event: string): boolean => {
      const [module = '', name = ''] = event.split('.')
      return files.some(
        (text) =>
          text.includes(`'${event}'`) ||
          // The events of a list by name: `payment.${name}` in one place, the names in another of the same file.
          (text.includes(`event: \`${module}.\${`) && text.includes(`'${name}'`)),
      )
    }
    expect([...postings.keys()].filter((event) => !raises(event))).to.deep.equal([])
  })

  it('holds 175 postable accounts of one class with their parents', () => {
    expect(chart.filter((account) => account.postable)).to.have.length(175)
    for (const account of chart) {
      const parent = chart.find(({ code }) => code === account.code.split('.').slice(0, -1).join('.'))
      if (parent) expect([parent.class, parent.postable], account.code).to.deep.equal([account.class, false])
    }
    expect(isRole('deposits')).to.equal(true)
  })

  for (const definition of ordinary) {
    it(`balances ${definition.event} for any payload of its shape`, () => {
      fc.assert(
        fc.property(payloadOf(definition), (payload) => {
          const lines = planLines(definition.event, payload)
          expect(sumOf(lines, 'debit')).to.equal(sumOf(lines, 'credit'))
          expect(lines.every(({ amount }) => amount > 0)).to.equal(true)
        }),
        { numRuns: 300 },
      )
    })
  }

  it('puts a negative amount of a ± key on the other side, and back when it is turned again', () => {
    const payload = (amount: number) => ({
      amounts: { amount },
      documents: { payment: randomUUID(), booking: randomUUID() },
      context: { target: 'booking' as const },
    })
    const sides = (amount: number) =>
      planLines('payment.payment_allocated', payload(amount)).map(({ side, line, amount: value }) => [
        side,
        line,
        value,
      ])
    expect(sides(500)).to.deep.equal([
      ['debit', 'unallocated_receipts', 500],
      ['credit', '@target', 500],
    ])
    expect(sides(-500)).to.deep.equal([
      ['debit', '@target', 500],
      ['credit', 'unallocated_receipts', 500],
    ])
  })

  it('refuses unknown keys, wrong shapes, wrong signs, broken identities, missing documents and contexts', () => {
    const documents = { payment: randomUUID(), folio: randomUUID() }
    const refuse = (event: string, payload: Parameters<typeof planLines>[1], words: RegExp) =>
      expect(() => planLines(event, payload)).to.throw(words)
    refuse('payment.payment_captured', { amounts: { amount: 1, other: 1 }, documents }, /no amount other/)
    refuse('payment.payment_captured', { amounts: { amount: [{ amount: 1 }] }, documents }, /one amount/)
    refuse('payment.payment_captured', { amounts: { amount: -1 }, documents }, /negative/)
    refuse('payment.payment_captured', { amounts: { amount: 0.5 }, documents }, /not an amount/)
    refuse('payment.payment_captured', { amounts: { amount: 10_000_000_000_001 }, documents }, /not an amount/)
    refuse('payment.payment_captured', { amounts: { amount: 1 } }, /documents\.payment/)
    refuse('payment.refund_succeeded', { amounts: { amount: 1 }, documents: { refund: randomUUID() } }, /money/)
    refuse(
      'reservations.room_night_charged',
      { amounts: { amount: 1 }, documents, context: { category: 'room' } },
      /folio stage/,
    )
    refuse(
      'reservations.room_night_charged',
      { amounts: { amount: 1 }, documents, context: { folioStage: 'guest', category: 'wine' } },
      /wine/,
    )
    refuse(
      'reservations.charge_adjusted',
      {
        amounts: { amount: 1, total: 3, taxOnTop: [{ amount: 1 }] },
        documents,
        context: { folioStage: 'guest', category: 'food', taxKind: 'tax' },
      },
      /total = 3/,
    )
  })

  it('drops lines of 0', () => {
    expect(
      planLines('payment.payment_captured', { amounts: { amount: 0 }, documents: { payment: randomUUID() } }),
    ).to.deep.equal([])
  })

  it('finds the journal of each event', () => {
    expect(
      [
        'reservations.room_night_charged',
        'payment.payment_captured',
        'inventory.pos_sale_closed',
        'inventory.stock_wasted',
        'accounts-payable.payment_paid',
      ].map(journalOf),
    ).to.deep.equal(['sales', 'cash', 'sales', 'stock', 'purchases'])
  })
})

describe('posting rules', () => {
  const context = {
    category: 'food',
    taxRuleId: 't',
    unitTypeId: 'u',
    ratePlanId: 'r',
    marketSegment: 'group',
    outletId: 'o',
    itemCategoryId: 'i',
    channelConnectionId: 'c',
    method: 'card',
  }
  const [line] = planLines('reservations.extra_charged', {
    amounts: { amount: 1 },
    documents: { folio: randomUUID() },
    context: { ...context, folioStage: 'guest' },
  }).filter((one) => one.side === 'credit')
  const rule = (match: Record<string, string>, more: Partial<RuleRow> = {}): RuleRow => ({
    id: Object.keys(match).join(),
    event: 'reservations.extra_charged',
    line: '@revenue',
    match,
    accountId: 'a',
    costCenterId: null,
    validFrom: '2026-01-01',
    validTo: null,
    ...more,
  })
  const chosen = (rules: RuleRow[], on = '2026-06-01') =>
    line ? chooseRule(rules, 'reservations.extra_charged', line, 'p', on)?.id : 'no line'
  const order = [
    'propertyId',
    'category',
    'taxRuleId',
    'unitTypeId',
    'ratePlanId',
    'marketSegment',
    'outletId',
    'itemCategoryId',
    'channelConnectionId',
    'method',
  ]
  const facts: Record<string, string> = { ...context, propertyId: 'p' }
  const of = (key: string) => rule({ [key]: facts[key] ?? '' })

  it('prefer more keys, and between equals the earlier key', () => {
    for (const [index, first] of order.entries()) {
      for (const second of order.slice(index + 1)) {
        expect(chosen([of(second), of(first)]), `${first} before ${second}`).to.equal(first)
        expect(
          chosen([of('propertyId'), rule({ [first]: facts[first] ?? '', [second]: facts[second] ?? '' })]),
        ).to.equal(`${first},${second}`)
      }
    }
  })

  it('hold from their first to their last day, and for what they match', () => {
    const dated = rule({}, { id: 'dated', validFrom: '2026-05-01', validTo: '2026-05-31' })
    expect(['2026-04-30', '2026-05-01', '2026-05-31', '2026-06-01'].map((on) => chosen([dated], on))).to.deep.equal([
      undefined,
      'dated',
      'dated',
      undefined,
    ])
    expect(chosen([rule({ category: 'spa' })])).to.equal(undefined)
    expect(chosen([rule({}, { line: '@folio' })])).to.equal(undefined)
  })
})
