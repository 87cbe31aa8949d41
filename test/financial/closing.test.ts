import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { carryOutAssessment } from '../../db/financial/index.ts'
import { useWorld } from '../support/world.ts'
import { line, openBook } from './accountant.ts'

const sum = (amounts: Record<string, number>, code: string) => amounts[code] ?? 0

describe('a month that closes', () => {
  const world = useWorld()

  it('is taxed, numbered, corrected late, closed and reopened by another person (story S6)', async () => {
    const a = await openBook(world, { taxRegime: 'presumed_profit' })
    const { owner, finance, manager, good, refused, bookId, on } = a
    const propertyId = await a.property()
    const { data: codes } = await good(finance, 'GET', `financial/tax-codes?bookId=${bookId}&limit=100`)
    const codeOf = (code: string) =>
      (codes as { id: string; code: string }[]).find((one) => one.code === code)?.id ?? ''
    for (const [code, rate] of [
      ['ISS', 50_000],
      ['PIS', 6_500],
      ['COFINS', 30_000],
    ] as const)
      await good(finance, 'POST', `financial/tax-codes/${codeOf(code)}/rates`, { rate, validFrom: on('01-01') })
    const at = { propertyId }
    await a.entry(on('01-10'), [
      line('1.1.3.80', 10_000_000, at),
      line('4.1.01', -8_000_000, at),
      line('4.2.01', -1_500_000, at),
      line('4.4.01', -500_000, at),
    ])
    await a.entry(on('01-20'), [line('4.1.09', 200_000, at), line('1.1.3.80', -200_000, at)])
    const january = await a.periodOf(on('01-01'))
    const february = await a.periodOf(on('02-01'))

    const tried = await good(finance, 'POST', 'financial/tax-assessments', { bookId, periodId: january, dryRun: true })
    const taxes = (body: { data: { taxCodeId: string; base: number; tax: number; delta: number }[] }) =>
      Object.fromEntries(body.data.map(({ taxCodeId, base, delta }) => [taxCodeId, [base, delta]]))
    expect(taxes(tried)).to.deep.equal({
      [codeOf('ISS')]: [9_300_000, 465_000],
      [codeOf('PIS')]: [9_300_000, 60_450],
      [codeOf('COFINS')]: [9_300_000, 279_000],
    })
    expect(await a.failing()).to.deep.equal([])

    await a.move(finance, january, 'soft-close')
    expect((await good(finance, 'GET', `financial/periods/${january}`)).working).to.equal(true)
    await world.drain()
    const seen = await good(finance, 'GET', `financial/periods/${january}?waitSeconds=5`)
    expect(seen).to.include({ working: false, entries: 5, lines: 12, status: 'soft_closed' })
    expect(await a.moved(on('01-01'), on('01-31'))).to.deep.equal([11_004_450, 11_004_450])

    expect(
      await refused(finance, 'POST', 'financial/ledger-entries', {
        bookId,
        postingDate: on('01-15'),
        description: 'Too late',
        lines: [line('1.1.3.80', 100), line('4.1.01', -100)],
      }),
    ).to.deep.equal([422, 'period_closed'])
    const draft = await good(manager, 'POST', 'financial/entry-drafts', {
      bookId,
      postingDate: on('01-15'),
      description: 'Forgotten',
      late: true,
      lines: [line('1.1.3.80', 100_000, at), line('4.1.01', -100_000, at)],
    })
    await good(manager, 'POST', `financial/entry-drafts/${draft.id as string}/submit`)
    expect(await refused(manager, 'POST', `financial/entry-drafts/${draft.id as string}/approve`, {})).to.deep.equal([
      403,
      'forbidden',
    ])
    await a.calm()
    await good(owner, 'POST', `financial/entry-drafts/${draft.id as string}/approve`, {})
    expect(await refused(finance, 'POST', `financial/periods/${january}/close`)).to.deep.equal([
      422,
      'checklist_not_clean',
    ])
    await world.drain()
    const { data: assessed } = await good(
      finance,
      'GET',
      `financial/tax-assessments?bookId=${bookId}&periodId=${january}`,
    )
    expect(
      (assessed as { number: number; delta: number }[]).filter(({ number }) => number === 2).map(({ delta }) => delta),
    ).to.have.members([5_000, 650, 3_000])

    const stale = await finance.send('POST', `financial/periods/${january}/close`)
    expect([stale.status, stale.body.code]).to.deep.equal([422, 'checklist_not_clean'])
    expect((stale.body.errors as { field: string }[]).map(({ field }) => field)).to.deep.equal(['integrity_stale'])
    expect(await a.failing()).to.deep.equal([])
    await a.move(finance, january, 'close')
    await world.drain()

    const seals = await a.rows<{ number: number; late: boolean; hash: Buffer; previousHash: Buffer; text: string }>(
      `select s.number, e.late, s.hash, s.previous_hash, e.source_type as text from journal_seal s join journal_entry e on e.id = s.entry_id
       where s.book_id = :bookId order by s.number`,
    )
    expect(seals.map(({ number }) => Number(number))).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(seals[5]).to.include({ late: true, text: 'financial.manual' })
    expect(seals[0]?.previousHash.equals(Buffer.alloc(32))).to.equal(true)
    for (const [index, seal] of seals.slice(1).entries())
      expect(seal.previousHash.equals(seals[index]?.hash ?? Buffer.alloc(0))).to.equal(true)
    expect(await a.moved(on('01-01'), on('01-31'))).to.deep.equal([11_113_100, 11_113_100])
    const closing = await a.balances(on('01-01'), on('01-31'))
    expect([sum(closing, '2.1.3.01'), sum(closing, '2.1.3.02'), sum(closing, '2.1.3.03')]).to.deep.equal([
      -470_000, -61_100, -282_000,
    ])
    await sameHash(a, seals[0]?.hash ?? Buffer.alloc(0))

    await a.calm()
    expect(await refused(finance, 'POST', `financial/periods/${january}/reopen`, { reason: 'Again' })).to.deep.equal([
      403,
      'self_approval',
    ])
    expect(await refused(finance, 'POST', `financial/periods/${february}/close`)).to.deep.equal([
      409,
      'invalid_transition',
    ])
    expect((await a.move(owner, january, 'reopen', { reason: 'A bill came late' })).status).to.equal('soft_closed')
    await a.move(finance, february, 'soft-close')
    await world.drain()
    expect(await refused(finance, 'POST', `financial/periods/${february}/close`)).to.deep.equal([422, 'period_order'])
    expect(await a.failing()).to.deep.equal([])
  })

  /** Another program computes the hash of the first entry from what the API shows. */
  const sameHash = async (a: Awaited<ReturnType<typeof openBook>>, hash: Buffer) => {
    const { data } = await a.good(a.finance, 'GET', `financial/ledger-entries?bookId=${a.bookId}&limit=100`)
    const first = (data as { id: string; number: number }[]).find(({ number }) => number === 1)
    const entry = await a.good(a.finance, 'GET', `financial/ledger-entries/${first?.id ?? ''}`)
    const fields = 'id postingDate kind sourceType sourceId sourceSeq reversesEntryId currency total description'.split(
      ' ',
    )
    const own = 'lineNo accountId debit credit propertyId costCenterId documentType documentId'.split(' ')
    const pick = (of: Record<string, unknown>, names: string[]) =>
      names.map((name): [string, unknown] => [name, of[name]])
    const text = JSON.stringify({
      number: 1,
      ...Object.fromEntries(pick(entry, fields)),
      lines: (entry.lines as Record<string, unknown>[]).map((one) => Object.fromEntries(pick(one, own))),
    })
    const digest = createHash('sha256').update(Buffer.alloc(32)).update(text, 'utf8').digest('hex')
    expect([digest, entry.hash]).to.deep.equal([hash.toString('hex'), hash.toString('hex')])
  }

  it('closes once though two people close it, and either takes a posting or stops it', async () => {
    const a = await openBook(world)
    const january = await a.periodOf(a.on('01-01'))
    const lines = [line('5.1.09', 100), line('1.1.3.80', -100)]
    const post = () =>
      a.finance.send('POST', 'financial/ledger-entries', {
        bookId: a.bookId,
        postingDate: a.on('01-10'),
        description: 'Beside',
        lines,
      })
    const [first, second, ...posted] = await Promise.all([
      a.finance.send('POST', `financial/periods/${january}/soft-close`),
      a.owner.send('POST', `financial/periods/${january}/soft-close`),
      ...Array.from({ length: 8 }, post),
    ])
    expect([first?.status, second?.status]).to.deep.equal([200, 200])
    expect(first?.body.closedBy).to.equal(second?.body.closedBy)
    for (const { status, body } of posted) expect([201, 422]).to.include(status, JSON.stringify(body))
    await world.drain()
    const [{ entries } = { entries: 0 }] = await a.rows<{ entries: number }>(
      `select count(*) as entries from journal_entry where period_id = :january`,
      { january },
    )
    expect(Number(entries)).to.equal(posted.filter(({ status }) => status === 201).length)
    const [{ seals } = { seals: 0 }] = await a.rows<{ seals: number }>(
      `select count(*) as seals from journal_seal where book_id = :bookId`,
    )
    expect(Number(seals)).to.equal(Number(entries))
    // A reopening beside entries: one of the two may, and what is posted after it is numbered at the next closing.
    await a.calm()
    const reopen = (desk: typeof a.owner) =>
      desk.send('POST', `financial/periods/${january}/reopen`, { reason: 'More' })
    const [one, two] = await Promise.all([reopen(a.owner), reopen(a.finance), ...Array.from({ length: 6 }, post)])
    expect([one, two].filter((reply) => reply?.status === 200)).to.have.length(1)
    expect(['self_approval', 'invalid_transition']).to.include(
      [one, two].find((reply) => reply?.status !== 200)?.body.code,
    )
    await a.calm()
    await a.move(a.finance, january, 'soft-close')
    await world.drain()
    expect(await a.failing()).to.deep.equal([])
  })

  it('numbers the diary by date, whichever of two months has its taxes first', async () => {
    const a = await openBook(world)
    const lines = [line('5.1.09', 100), line('1.1.3.80', -100)]
    const months = [await a.periodOf(a.on('01-01')), await a.periodOf(a.on('02-01'))]
    for (const day of ['02-10', '01-20', '01-10']) await a.entry(a.on(day), lines)
    for (const month of months) await a.move(a.finance, month, 'soft-close')
    await a.house.inHouse((trx) => carryOutAssessment(trx, months[1] ?? ''))
    await world.drain({ kinds: ['ledger.seal'] })
    await world.drain()
    const numbers = await a.rows<{ on: string }>(
      `select e.posting_date as on from journal_seal s join journal_entry e on e.id = s.entry_id where s.book_id = :bookId order by s.number`,
    )
    expect(numbers.map(({ on }) => on)).to.deep.equal([a.on('01-10'), a.on('01-20'), a.on('02-10')])
    expect(await a.failing()).to.deep.equal([])
  })

  it('does not close over open business days, waiting postings, or out of order', async () => {
    const a = await openBook(world)
    const [january, february] = [await a.periodOf(a.on('01-01')), await a.periodOf(a.on('02-01'))]
    expect(await a.refused(a.finance, 'POST', `financial/periods/${february}/soft-close`)).to.deep.equal([
      422,
      'period_order',
    ])
    expect(await a.refused(a.finance, 'POST', `financial/periods/${january}/close`)).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const closing = await a.periodOf(a.on('12-31'), 'closing')
    expect(await a.refused(a.finance, 'POST', `financial/periods/${closing}/soft-close`)).to.deep.equal([
      409,
      'invalid_transition',
    ])
    const propertyId = await a.property()
    await a.rows(
      `insert into business_day (tenant_id, property_id, date) values (:tenantId, :propertyId, cast(:day as date))`,
      { propertyId, day: a.on('01-15') },
    )
    const open = await a.finance.send('POST', `financial/periods/${january}/soft-close`)
    expect([open.body.code, open.body.errors[0].field]).to.deep.equal(['checklist_not_clean', 'days_open'])
  })
})
