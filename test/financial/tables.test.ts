import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { postings } from '../../config/financial.ts'
import { raisePosting } from '../../db/financial/index.ts'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { useWorld } from '../support/world.ts'
import { rowsOf } from './contract-tables.ts'
import { postedLines } from './posted-accounts.ts'
import { makeHouse, post } from './support.ts'

const table = rowsOf('financial-postings.tsv')

/** `@target(document) key[]±` of a cell, each as the table writes it. */
const cellOf = (text: string) =>
  text.split('; ').map((part) => {
    const at = part.lastIndexOf(' ')
    const [account = '', document] = part.slice(0, at).split(/[()]/)
    const key = part.slice(at + 1)
    return {
      account,
      document: document ?? null,
      key: key.replace(/[^A-Za-z]/g, ''),
      list: key.includes('[]'),
      signed: key.endsWith('±'),
    }
  })
const isMirror = ({ debit = '' }: Record<string, string>) => debit.startsWith('mirror of ')
const raised = table.filter((row) => !isMirror(row) && !row['event']?.startsWith('financial.'))

describe('the table of postings, line by line', () => {
  useWorld()

  it('is read as it is written', () => {
    expect([...postings.keys()]).to.deep.equal(table.map(({ event }) => event))
    for (const row of table) {
      const definition = postings.get(row['event'] ?? '')
      expect(definition?.dated, row['event']).to.equal(row['dated'])
      expect(definition?.textPt, row['event']).to.equal(row['text_pt']).and.not.equal('')
      if (isMirror(row)) {
        const names = row['debit']?.slice('mirror of '.length).split(', ')
        expect([definition?.mirrors, definition?.lines, row['credit']], row['event']).to.deep.equal([names, [], ''])
        continue
      }
      const written = (['debit', 'credit'] as const).flatMap((side) =>
        cellOf(row[side] ?? '').map((cell) => ({ side, ...cell })),
      )
      const known = definition?.lines.map(({ side, target, selector, document, key, list, signed }) => ({
        side,
        account: selector ? `@${target}` : target,
        document,
        key,
        list,
        signed,
      }))
      expect(known, row['event']).to.deep.equal(written)
    }
  })

  /** Contexts of which each gives other accounts to some selector. */
  const contexts = [
    {
      folioStage: 'deposit',
      target: 'booking',
      category: 'room',
      marketSegment: 'group',
      customerKind: 'ota',
      taxKind: 'tax',
    },
    {
      folioStage: 'guest',
      target: 'folio',
      category: 'food',
      marketSegment: 'transient',
      customerKind: 'company',
      taxKind: 'fee',
    },
    { folioStage: 'guest', target: 'pos_order', category: 'cancellation', customerKind: 'agency', taxKind: 'tax' },
    { folioStage: 'guest', target: 'receivable', category: 'service_charge', customerKind: 'guest', taxKind: 'tax' },
  ] as const
  const others = [
    { credit: 'credit_note', between: 'locations', stockGroup: 'food', expenseGroup: 'food', consumption: 'sale' },
    {
      credit: 'advance',
      between: 'books',
      stockGroup: 'supplies',
      expenseGroup: 'guest_supplies',
      consumption: 'staff',
    },
  ] as const

  /** A different amount for each key, so that no two lines can be taken for each other; the lighter side of the identity gets the rest. */
  const amountsOf = (row: Record<string, string>, sign: 1 | -1) => {
    const cells = [...cellOf(row['debit'] ?? ''), ...cellOf(row['credit'] ?? '')]
    const identity = (row['identity'] ?? '')
      .split(';')[0]
      ?.split('=')
      .map((half) => half.split('+').map((key) => key.trim()))
    const keys = new Set([...cells.map(({ key }) => key), ...(identity?.length === 2 ? identity.flat() : [])])
    const isSigned = (key: string) => cells.some((cell) => cell.key === key && cell.signed)
    const values = new Map([...keys].map((key, at) => [key, (isSigned(key) ? sign : 1) * (1_000 + 137 * at)]))
    if (identity?.length === 2) {
      const [left = [], right = []] = identity
      const sum = (names: readonly string[]) => names.reduce((total, key) => total + (values.get(key) ?? 0), 0)
      const [first = ''] = sum(left) < sum(right) ? left : right
      values.set(first, (values.get(first) ?? 0) + Math.abs(sum(left) - sum(right)))
    }
    return Object.fromEntries(
      [...values].map(([key, amount]) => [
        key,
        cells.some((cell) => cell.key === key && cell.list) ? [{ amount }] : amount,
      ]),
    )
  }

  it('is posted as it is written: side, account, amount and document of every line of every event', async function () {
    this.timeout(120_000)
    const house = await makeHouse()
    const { tenantId, bookId, propertyId, today } = house
    const accounts = await inTenant(tenantId, (trx) =>
      sql<{ id: string; role: string | null }>(trx, `select id, role from account where book_id = ?`, [bookId]),
    )
    const roleOf = new Map(accounts.map(({ id, role }) => [id, role]))
    const idOf = (role: string) => accounts.find((one) => one.role === role)?.id ?? ''
    const given = { money: idOf('bank'), from: idOf('petty_cash'), to: idOf('safe'), account: idOf('bad_debt') }
    const names = ['folio', 'booking', 'order', 'receipt', 'to', 'from', 'movement', 'reservation', 'payment']
    const documents: Record<string, string> = Object.fromEntries(
      [
        ...names,
        ...raised.flatMap((row) =>
          [...cellOf(row['debit'] ?? ''), ...cellOf(row['credit'] ?? '')].map((cell) => cell.document),
        ),
      ]
        .filter((name) => name !== null)
        .map((name) => [name, randomUUID()]),
    )
    const nameOf = new Map(Object.entries(documents).map(([name, id]) => [id, name]))
    const expected: { event: string; source: string; lines: string[] }[] = []
    await inTenant(tenantId, async (trx) => {
      for (const row of raised)
        for (const context of contexts)
          for (const other of others)
            for (const sign of [1, -1] as const) {
              const source = randomUUID()
              const event = row['event'] ?? ''
              const payload = {
                amounts: amountsOf(row, sign),
                context: { ...context, ...other, money: 'gateway' as const },
                documents,
                accounts: given,
              }
              const definition = postings.get(event)
              if (!definition) throw new Error(event)
              await raisePosting(trx, {
                event,
                source: { id: source },
                propertyId,
                payload,
                ...(row['dated'] === 'document' ? { postingDate: today } : {}),
              })
              const cells = [...cellOf(row['debit'] ?? ''), ...cellOf(row['credit'] ?? '')]
              const told = postedLines(definition, payload).map(({ account, debit, credit }, at) => {
                const cell = cells[at]
                // Documents of these two follow the context, not the table.
                const document =
                  cell?.account === '@target' || cell?.account === '@between'
                    ? 'any'
                    : (cell?.document ?? (cell?.account === '@folio' ? 'folio' : 'none'))
                const name = account.startsWith('name:')
                  ? roleOf.get(given[account.slice(5) as keyof typeof given])
                  : account
                return `${name} D ${debit} C ${credit} ${document}`
              })
              expected.push({ event, source, lines: told })
            }
    })
    for (let turn = 0; turn < 40; turn += 1) await post(house)
    const kept = await inTenant(tenantId, (trx) =>
      sql<{
        source: string
        accountId: string
        debit: number
        credit: number
        documentId: string | null
        type: string | null
      }>(
        trx,
        `select e.source_id as source, l.account_id, l.debit, l.credit, l.document_id, l.document_type as type
         from journal_entry e join journal_line l on l.tenant_id = e.tenant_id and l.entry_id = e.id where e.book_id = ?`,
        [bookId],
      ),
    )
    const bySource = new Map<string, typeof kept>()
    for (const one of kept) bySource.set(one.source, [...(bySource.get(one.source) ?? []), one])
    for (const { event, source, lines } of expected) {
      const found = (bySource.get(source) ?? []).map(({ accountId, debit, credit, documentId }) => ({
        text: `${roleOf.get(accountId)} D ${debit} C ${credit}`,
        document: documentId === null ? 'none' : (nameOf.get(documentId) ?? documentId),
      }))
      const texts = found.map(({ text, document }) =>
        lines.includes(`${text} any`) ? `${text} any` : `${text} ${document}`,
      )
      expect(texts, event).to.have.members(lines)
    }
  })
})
