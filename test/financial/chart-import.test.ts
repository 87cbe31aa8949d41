import { expect } from 'chai'
import { chart } from '../../config/financial.ts'
import { useWorld } from '../support/world.ts'
import { openBook } from './accountant.ts'

type Created = { accountId: string | null; code: string; name: string }[]
const path = 'financial/chart-of-accounts/import'

describe('the import of a chart of accounts', () => {
  const world = useWorld()
  let books: Awaited<ReturnType<typeof openBook>>
  beforeEach(async () => {
    books = await openBook(world, { template: 'none' })
  })
  const accounts = () =>
    books.rows<Record<string, unknown>>(
      `select a.code, a.class, a.side, a.postable, a.role, a.section, a.cash_flow, p.code as parent
       from account a left join account p on p.tenant_id = a.tenant_id and p.id = a.parent_id
       where a.book_id = :bookId order by a.code collate "C"`,
    )
  const ours = () => [
    // A group may stand after what is below it.
    { code: '1.1', name: 'Current assets', class: 'asset', postable: false },
    { code: '1', name: 'Assets', class: 'asset', postable: false },
    { code: '1.1.1', name: 'Safe', class: 'asset', section: 'current_asset', cashFlow: 'operating' },
    { code: '1.1.2', name: 'Allowance', class: 'asset', side: 'credit', referentialCode: '1.01.02' },
  ]

  it('adds rows below their groups, and tells each account in an event', async () => {
    const { owner, bookId, good } = books
    const dry = await good(owner, 'POST', path, { bookId, rows: ours(), dryRun: true })
    expect((dry.created as Created).map(({ accountId, code }) => [accountId, code])).to.deep.equal(
      ['1', '1.1', '1.1.1', '1.1.2'].map((code) => [null, code]),
    )
    expect(await accounts()).to.deep.equal([])
    const { created, skipped, errors } = await good(owner, 'POST', path, { bookId, rows: ours() })
    expect((created as Created).map(({ code }) => code)).to.deep.equal(['1', '1.1', '1.1.1', '1.1.2'])
    expect([skipped, errors]).to.deep.equal([[], []])
    expect(await accounts()).to.deep.equal([
      {
        code: '1',
        class: 'asset',
        side: 'debit',
        postable: false,
        role: null,
        section: null,
        cashFlow: null,
        parent: null,
      },
      {
        code: '1.1',
        class: 'asset',
        side: 'debit',
        postable: false,
        role: null,
        section: null,
        cashFlow: null,
        parent: '1',
      },
      {
        code: '1.1.1',
        class: 'asset',
        side: 'debit',
        postable: true,
        role: null,
        section: 'current_asset',
        cashFlow: 'operating',
        parent: '1.1',
      },
      // Its place is that of the first account of the group.
      {
        code: '1.1.2',
        class: 'asset',
        side: 'credit',
        postable: true,
        role: null,
        section: 'current_asset',
        cashFlow: 'operating',
        parent: '1.1',
      },
    ])
    const events = await books.rows<{ code: string }>(
      `select data ->> 'code' as code from event where tenant_id = :tenantId and type = 'account.created' and data ->> 'bookId' = :bookId order by 1`,
    )
    expect(events.map(({ code }) => code)).to.deep.equal(['1', '1.1', '1.1.1', '1.1.2'])
    const again = await good(owner, 'POST', path, { bookId, rows: ours() })
    expect([again.created, (again.skipped as object[]).length]).to.deep.equal([[], 4])
  })

  it('fills a chart up from the template, whose accounts play their roles', async () => {
    const { owner, bookId, good } = books
    await good(owner, 'POST', path, {
      bookId,
      rows: [
        { code: '1', name: 'Ativo nosso', class: 'asset', postable: false },
        { code: '9', name: 'Nosso', class: 'expense', postable: false },
      ],
    })
    const { created, skipped } = await good(owner, 'POST', path, { bookId, template: 'hotel' })
    expect((skipped as { code: string }[]).map(({ code }) => code)).to.deep.equal(['1', '9'])
    expect(created).to.have.length(chart.length - 2)
    const rows = await accounts()
    expect(rows).to.have.length(chart.length)
    expect(
      rows.flatMap(({ role }) => (role ? [role] : [])).toSorted((one, other) => (one < other ? -1 : 1)),
    ).to.deep.equal(chart.flatMap(({ role }) => (role ? [role] : [])).toSorted((one, other) => (one < other ? -1 : 1)))
    // The book takes entries at once.
    await good(books.finance, 'POST', 'financial/ledger-entries', {
      bookId,
      description: 'Bank fees',
      postingDate: `${books.year}-03-01`,
      lines: [
        { accountCode: '5.1.09', debit: 100 },
        { accountCode: '1.1.3.80', credit: 100 },
      ],
    })
  })

  it('says of each row what is wrong with it, and then adds none', async () => {
    const { owner, bookId, good } = books
    await good(owner, 'POST', path, { bookId, rows: ours() })
    const rows = [
      { code: '1.2', name: 'Fine', class: 'asset' },
      { code: '1.2', name: 'Twice', class: 'asset' },
      { code: '1.3', name: 'Other class', class: 'liability' },
      { code: '1.1.1.1', name: 'Below an account', class: 'asset' },
      { code: '7.1', name: 'Without a group', class: 'expense' },
      { code: '1.1.1', name: 'Stands', class: 'expense' },
    ]
    const dry = await good(owner, 'POST', path, { bookId, rows, dryRun: true })
    expect((dry.errors as { row: number; field: string }[]).map(({ row, field }) => [row, field])).to.deep.equal([
      [1, 'code'],
      [2, 'class'],
      [3, 'code'],
      [4, 'code'],
    ])
    const { status, body } = await owner.send('POST', path, { bookId, rows })
    expect([status, body.code]).to.deep.equal([400, 'validation_failed'])
    expect((body.errors as { field: string }[]).map(({ field }) => field)).to.deep.equal([
      'rows.1.code',
      'rows.2.class',
      'rows.3.code',
      'rows.4.code',
    ])
    expect(await accounts()).to.have.length(4)
    for (const wrong of [{ bookId }, { bookId, template: 'hotel', rows }, { bookId, rows: [{ code: 'a b' }] }])
      expect(await books.refused(owner, 'POST', path, wrong)).to.deep.equal([400, 'validation_failed'])
    const elsewhere = await openBook(world)
    expect(await books.refused(owner, 'POST', path, { bookId: elsewhere.bookId, rows })).to.deep.equal([
      404,
      'not_found',
    ])
  })

  it('adds each account once, however many import at once', async () => {
    const { owner, bookId } = books
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => owner.send('POST', path, { bookId, template: 'hotel' })),
    )
    expect(replies.map(({ status }) => status)).to.deep.equal(Array.from({ length: 8 }, () => 200))
    expect(replies.reduce((sum, { body }) => sum + (body.created as object[]).length, 0)).to.equal(chart.length)
    expect(await accounts()).to.have.length(chart.length)
  })
})
