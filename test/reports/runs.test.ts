import { createHash } from 'node:crypto'
import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { inTenant, sql } from '../../db/lib/connection.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'
import { makeBook, postPlain, randomEntries } from './support.ts'
import type { BookOfYears } from './support.ts'

type Run = {
  id: string
  status: string
  rows: number
  bytes: number
  sha256: string
  fileName: string
  error: { code: string } | null
}
type Member = Desk & { token: string; userId: string }
type Cell = string | number | boolean | Date | null

describe('runs of reports', () => {
  const world = useWorld()
  let house: House
  let owner: Member
  let book: BookOfYears
  const range = { startDate: '2024-01-01', endDate: '2024-12-31' }
  const tricky = '=HYPERLINK("http://x")\nline; "two", ＝1 é 🏨 Ł'

  const member = async (role: string, propertyIds: string[] | null = null): Promise<Member> => {
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role, propertyIds }))
    const { token } = await signIn(world, person)
    return { ...deskOf(world, house.tenantId, token), token, userId: person.userId }
  }

  before(async () => {
    house = await makeHouse({ units: 1 })
    owner = await member('owner')
    book = await makeBook(house.tenantId)
    await postPlain(book, randomEntries(book, 120, 7))
    await postPlain(book, [
      {
        on: '2024-05-05',
        description: tricky,
        lines: [
          { code: '5.1.09', debit: 123_456 },
          { code: '1.1.3.80', credit: 123_456 },
        ],
      },
    ])
  })
  beforeEach(() => forgetLimits(world))

  /** Beginnings by which a spreadsheet takes a text for a formula, plain and full width. */
  const beginnings = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'] as const

  const ask = (desk: Desk, body: Record<string, unknown>) =>
    desk.send('POST', 'reports/runs', {
      ...body,
      parameters: { bookId: book.bookId, ...range, ...(body['parameters'] as object | undefined) },
    })
  const start = async (body: Record<string, unknown>, desk: Desk = owner): Promise<Run> => {
    const { status, body: run } = await ask(desk, body)
    expect(status, JSON.stringify(run)).to.equal(201)
    return run as Run
  }
  const drained = () => world.drain({ kinds: ['reports.run'] })
  const read = async (id: string, desk: Desk = owner) => (await desk.get(`reports/runs/${id}`)).body as Run
  const made = async (body: Record<string, unknown>, desk: Desk = owner): Promise<Run> => {
    const { id } = await start(body, desk)
    await drained()
    const run = await read(id, desk)
    expect(run.status, JSON.stringify(run)).to.equal('succeeded')
    return run
  }
  const download = (id: string, { token } = owner) =>
    fetch(`${world.baseUrl}/api/tenants/${house.tenantId}/reports/runs/${id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    })
  const fileOf = async (run: Run): Promise<Buffer> => {
    const reply = await download(run.id)
    expect(reply.status).to.equal(200)
    expect(reply.headers.get('x-content-type-options')).to.equal('nosniff')
    expect(reply.headers.get('content-disposition')).to.contain(run.fileName)
    const bytes = Buffer.from(await reply.arrayBuffer())
    expect(bytes.length).to.equal(run.bytes)
    expect(reply.headers.get('content-length')).to.equal(String(run.bytes))
    expect(createHash('sha256').update(bytes).digest('hex')).to.equal(run.sha256)
    return bytes
  }
  const statement = async (path: string) => {
    const { status, body } = await owner.get(
      `reports/${path}?${new URLSearchParams({ bookId: book.bookId, ...range }).toString()}`,
    )
    expect(status).to.equal(200)
    return body as { data: Record<string, number>[]; totals: Record<string, number> }
  }
  const rowsOf = (id: string) =>
    inTenant(house.tenantId, (trx) =>
      sql<{ part: number }>(trx, `select part from report_file where report_run_id = ?`, [id]),
    )
  const set = (id: string, change: string) =>
    inTenant(house.tenantId, (trx) => sql(trx, `update report_run set ${change} where id = ?`, [id]))
  const minor = (text: string) => Math.round(Number(text.replace(',', '.')) * 100)

  it('CSV is that of the language, has the totals of the endpoint, and holds no formula', async () => {
    const { data, totals } = await statement('trial-balance')
    const bytes = await fileOf(await made({ report: 'trial_balance', format: 'csv' }))
    expect(bytes.subarray(0, 3)).to.deep.equal(Buffer.from([0xef, 0xbb, 0xbf]))
    const rows = parse(bytes, { bom: true, delimiter: ';', relax_column_count: true, record_delimiter: '\r\n' })
    const header = rows.findIndex((row) => row[0] === 'Código')
    const body = rows.slice(header + 1)
    expect(body.length).to.equal(data.length + 1)
    expect(rows[0]).to.deep.equal(['Relatório', 'Balancete de verificação'])
    const last = body.at(-1) as string[]
    expect(last.slice(2, 6).map(minor)).to.deep.equal([
      totals['opening'],
      totals['debit'],
      totals['credit'],
      totals['closing'],
    ])
    for (const [index, row] of data.entries()) expect(minor(body[index]?.[5] ?? '')).to.equal(row['closing'])

    const ledger = String(await fileOf(await made({ report: 'general_ledger', format: 'csv', locale: 'en' })))
    const lines = parse(ledger, { bom: true, relax_column_count: true, record_delimiter: '\r\n' })
    expect(lines.some((row) => row[5] === `'${tricky}`)).to.equal(true)
    const foot = lines.at(-1) as string[]
    const sums = await statement('general-ledger')
    expect([minor(foot[7] ?? ''), minor(foot[8] ?? '')]).to.deep.equal([sums.totals['debit'], sums.totals['credit']])
    expect(ledger).to.match(/,-\d+\.\d\d/)
  })

  it('no cell of CSV or XLSX is a formula, whatever a text begins with', async () => {
    const texts = beginnings.map((beginning, at) => `${beginning}SUM(A${at})|cmd`)
    await postPlain(
      book,
      texts.map((description) => ({
        on: '2024-06-06',
        description,
        lines: [
          { code: '5.1.09', debit: 1 },
          { code: '1.1.3.80', credit: 1 },
        ],
      })),
    )
    const parameters = { startDate: '2024-06-06', endDate: '2024-06-06' }
    const csv = await fileOf(await made({ report: 'general_ledger', format: 'csv', parameters }))
    const cells = parse(csv, { bom: true, delimiter: ';', relax_column_count: true, record_delimiter: '\r\n' }).flat()
    for (const text of texts)
      expect(
        cells.filter((cell) => cell === `'${text}`),
        text,
      ).to.have.length(2)
    for (const cell of cells)
      expect(/^[=+@\t\r＝＋－＠]/.test(cell) || /^-(?!\d+([.,]\d+)?$)/.test(cell), JSON.stringify(cell)).to.equal(false)
    const file = await fileOf(await made({ report: 'general_ledger', format: 'xlsx', parameters }))
    const sheet = (await readSheet(file)) as Cell[][]
    // A carriage return is a line feed in XML, and the reader drops blanks at the ends.
    const plain = (value: unknown) => String(value).replaceAll('\r', '\n').trim()
    for (const text of texts)
      expect(
        sheet.flat().filter((cell) => typeof cell === 'string' && plain(cell) === plain(text)),
        text,
      ).to.have.length(2)
    expect(file.includes('<f>')).to.equal(false)
  })

  it('XLSX opens in a reader of its own, with typed cells and the same totals', async () => {
    const { data, totals } = await statement('trial-balance')
    const sheet = (await readSheet(await fileOf(await made({ report: 'trial_balance', format: 'xlsx' })))) as Cell[][]
    const last = sheet.at(-1) as Cell[]
    expect(last.slice(2, 6).map((cell) => Math.round(Number(cell) * 100))).to.deep.equal([
      totals['opening'],
      totals['debit'],
      totals['credit'],
      totals['closing'],
    ])
    const header = sheet.findIndex((row) => row[0] === 'Código')
    expect(sheet.length - header - 2).to.equal(data.length)
    for (const [index, row] of data.entries())
      expect(Math.round(Number(sheet[header + 1 + index]?.[5] ?? 0) * 100)).to.equal(row['closing'])
    const ledger = (await readSheet(await fileOf(await made({ report: 'general_ledger', format: 'xlsx' })))) as Cell[][]
    const line = ledger.find((row) => row[5] === tricky)
    expect(line?.[2]).to.be.an.instanceOf(Date)
    expect(JSON.stringify(line?.[2])).to.contain('2024-05-05')
  })

  it('PDF has every page, its number of all pages, and the totals in letters that fonts have', async () => {
    const { totals } = await statement('trial-balance')
    const run = await made({ report: 'general_ledger', format: 'pdf', locale: 'en' })
    const bytes = await fileOf(run)
    expect(bytes.subarray(0, 5).toString()).to.equal('%PDF-')
    const { totalPages, text } = await extractText(await getDocumentProxy(new Uint8Array(bytes)))
    expect(totalPages).to.be.greaterThan(5)
    for (const [index, page] of text.entries())
      expect(page).to.match(new RegExp(`Page ${index + 1} of\\s*${totalPages}`))
    const whole = text.join(' ')
    expect(whole).to.contain('two')
    expect(whole).not.to.contain('🏨')
    const short = await extractText(
      await getDocumentProxy(
        new Uint8Array(await fileOf(await made({ report: 'trial_balance', format: 'pdf', locale: 'en' }))),
      ),
    )
    const debit = ((totals['debit'] ?? 0) / 100).toLocaleString('en-US', { minimumFractionDigits: 2 })
    expect(short.text.join(' ')).to.contain(debit)
  })

  it('JSON has the rows and totals of the endpoint', async () => {
    for (const [report, path] of [
      ['income_statement', 'income-statement'],
      ['journal', 'journal'],
      ['cash_flow', 'cash-flow'],
      ['hotel_ledgers', 'hotel-ledgers'],
      ['taxes', 'taxes'],
    ] as const) {
      const parameters = report === 'hotel_ledgers' ? { endDate: '2024-01-31' } : {}
      const file = JSON.parse(String(await fileOf(await made({ report, format: 'json', parameters }))))
      const query = new URLSearchParams({
        bookId: book.bookId,
        ...range,
        ...parameters,
        ...(report === 'journal' ? { limit: '1000' } : {}),
      })
      const { body } = await owner.get(`reports/${path}?${query.toString()}`)
      expect(file.data, report).to.deep.equal(body.data)
      expect(file.totals).to.deep.equal(body.totals)
    }
  })

  it('what an earlier start has left is replaced as a whole, and nothing of it is served', async () => {
    const { id } = await start({ report: 'general_ledger', format: 'csv' })
    await inTenant(house.tenantId, async (trx) => {
      const { beginRun, keepPart } = await import('../../db/reports/runs.ts')
      await beginRun(trx, id)
      for (const part of [1, 2, 3]) await keepPart(trx, id, { part, bytes: Buffer.alloc(1000, 'x'), rows: part })
    })
    const refused = await owner.get(`reports/runs/${id}/file`)
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'run_not_finished'])
    expect(await read(id)).to.include({ status: 'running', rows: 3 })
    await drained()
    expect(String(await fileOf(await read(id)))).not.to.contain('xxx')
    // The job is over; another start of it would find the run ended.
    expect(
      await inTenant(house.tenantId, async (trx) => (await import('../../db/reports/runs.ts')).beginRun(trx, id)),
    ).to.equal(null)
  })

  it('has what its requester may see when it starts, and fails where that is nothing any more', async () => {
    const finance = await member('finance')
    const lost = await start({ report: 'trial_balance', format: 'csv' }, finance)
    await inTenant(house.tenantId, (trx) =>
      sql(trx, `update membership set role = 'receptionist' where user_id = ?`, [finance.userId]),
    )
    const part = await member('finance', [book.properties[0] ?? ''])
    const { id } = await start({ report: 'income_statement', format: 'json' }, part)
    await drained()
    expect((await read(lost.id)).error?.code).to.equal('forbidden')
    expect((await read(lost.id)).status).to.equal('failed')
    const file = (await (await download(id, part)).json()) as { meta: { propertyIds: string[] } }
    expect(file.meta.propertyIds).to.deep.equal([book.properties[0]])
    expect((await ask(part, { report: 'journal', format: 'csv' })).status).to.equal(403)
    expect(
      (await ask(part, { report: 'trial_balance', format: 'csv', parameters: { propertyId: book.properties[1] } }))
        .status,
    ).to.equal(403)
    expect((await ask(await member('receptionist'), { report: 'trial_balance', format: 'csv' })).status).to.equal(403)
  })

  it('is its maker’s: not found for colleagues and other tenants, seen by owners and auditors', async () => {
    const [one, two, auditor] = [await member('finance'), await member('finance'), await member('auditor')]
    const run = await made({ report: 'trial_balance', format: 'csv' }, one)
    expect((await two.get(`reports/runs/${run.id}`)).status).to.equal(404)
    expect((await two.get(`reports/runs/${run.id}/file`)).status).to.equal(404)
    expect((await two.get('reports/runs')).body.data).to.deep.equal([])
    expect((await one.get('reports/runs')).body.data).to.have.length(1)
    for (const desk of [auditor, owner]) expect((await desk.get(`reports/runs/${run.id}`)).status).to.equal(200)
    expect((await download(run.id, auditor)).status).to.equal(200)
    const other = await makeHouse({ units: 1 })
    const person = await makeUser()
    await other.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    const stranger = deskOf(world, other.tenantId, (await signIn(world, person)).token)
    expect((await stranger.get(`reports/runs/${run.id}`)).status).to.equal(404)
    const entries = await inTenant(house.tenantId, (trx) =>
      sql(trx, `select id from audit_entry where action = 'reportRuns.file' and subject_id = ?`, [run.id]),
    )
    expect(entries).to.have.length(1)
  })

  it('refuses what the endpoint would refuse, and parameters of other reports', async () => {
    const refused = async (body: Record<string, unknown>) => {
      const { status, body: told } = await ask(owner, { report: 'trial_balance', format: 'csv', ...body })
      return `${status} ${told.code as string} ${(told.errors as { field: string }[] | undefined)?.[0]?.field ?? ''}`.trim()
    }
    expect(await refused({ parameters: { view: 'departments' } })).to.contain('400 validation_failed parameters')
    expect(await refused({ parameters: { startDate: 'soon' } })).to.equal('400 validation_failed parameters.startDate')
    expect(await refused({ parameters: { startDate: '2025-01-01' } })).to.contain('400 range_invalid')
    expect(await refused({ parameters: { startDate: '2010-01-01' } })).to.equal('422 report_too_large')
    expect(await refused({ parameters: { bookId: house.propertyId } })).to.equal('404 not_found')
    expect(await refused({ report: 'secrets' })).to.contain('400 validation_failed')
    expect(await refused({ format: 'exe' })).to.contain('400 validation_failed')
  })

  it('five are open at most, also when ten are asked for at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ask(owner, { report: 'trial_balance', format: 'csv' })),
    )
    expect(answers.filter(({ status }) => status === 201)).to.have.length(5)
    const full = answers.find(({ status }) => status === 429)
    expect(full?.body.code).to.equal('too_many_runs')
    expect(full?.headers['retry-after']).to.equal('30')
    await drained()
    await made({ report: 'trial_balance', format: 'csv' })
  })

  it('files go after 30 days, runs that were lost end, and runs go after a year', async () => {
    const run = await made({ report: 'trial_balance', format: 'csv' })
    const old = await made({ report: 'trial_balance', format: 'csv' })
    const lost = await start({ report: 'trial_balance', format: 'csv' })
    await set(run.id, `expires_at = now() - interval '1 second'`)
    await set(lost.id, `status = 'running', started_at = now() - interval '31 minutes'`)
    await set(old.id, `expires_at = now(), created_at = now() - interval '366 days'`)
    expect((await download(run.id)).status).to.equal(404)
    const { expireReportFiles } = await import('../../jobs/reports.ts')
    const { enqueue } = await import('../../db/lib/enqueue.ts')
    const { inPlatform } = await import('../../db/lib/connection.ts')
    await inPlatform((trx) => enqueue(trx, expireReportFiles, {}))
    await world.drain({ kinds: ['reports.expire-files'] })
    expect((await read(run.id)).status).to.equal('expired')
    expect(await rowsOf(run.id)).to.deep.equal([])
    expect((await download(run.id)).status).to.equal(404)
    expect(await read(lost.id)).to.deep.include({
      status: 'failed',
      error: { code: 'interrupted', message: 'The run did not end in time; start it again' },
    })
    expect((await owner.get(`reports/runs/${old.id}`)).status).to.equal(404)
    await drained()
    expect((await read(lost.id)).status).to.equal('failed')
  })

  it('lists what the caller may run, with the schema of its parameters', async () => {
    const { body } = await owner.get('reports')
    const keys = (body.data as { key: string }[]).map(({ key }) => key)
    expect(keys).to.include.members(['trial_balance', 'consolidated_statements'])
    const [first] = body.data as { parameters: { properties: object }; name: string }[]
    expect(first?.name).to.equal('Balancete de verificação')
    expect(first?.parameters.properties).to.have.property('includeClosing')
    const relations = await member('relations')
    const subjects = ((await relations.get('reports')).body.data as { subject: string }[]).map(({ subject }) => subject)
    expect([...new Set(subjects)]).to.deep.equal(['OperationalReport'])
  })
})
