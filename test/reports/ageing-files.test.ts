import { parse } from 'csv-parse/sync'
import { expect } from 'chai'
import { readSheet } from 'read-excel-file/node'
import { extractText, getDocumentProxy } from 'unpdf'
import { openPayables } from '../accounts-payable/desk.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { makeUser, signIn } from '../auth/support.ts'
import { makeCustomer, makeInvoice } from '../support/receipts.ts'
import { useWorld } from '../support/world.ts'

type Amounts = Record<string, number | string | null>
type Ageing = { data: Amounts[]; totals: Amounts; hasMore?: boolean }

const customers = 103
const buckets = ['notDue', 'd1to30', 'd31to60', 'd61to90', 'over90', 'total']

describe('files of ageing', function () {
  this.timeout(180_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let token: string
  before(async () => {
    a = await openPayables(world)
    const person = await makeUser()
    await a.house.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    token = (await signIn(world, person)).token
    const accountId = await a.account('6.4.03')
    for (let at = 0; at < 6; at += 1) {
      const { id: supplierId } = await a.supplier()
      const amounts = [1_000_001 + at, 33, 2_000 * at + 7]
      await a.bill({
        supplierId,
        issuedOn: a.house.day(-120),
        lines: [{ description: 'Works', accountId, amount: amounts.reduce((sum, one) => sum + one, 0) }],
        installments: amounts.map((amount, index) => ({ amount, dueOn: a.house.day(-100 + 40 * index + at) })),
      })
      if (at === 2)
        await a.good(a.finance, 'POST', 'accounts-payable/credits', {
          bookId: a.bookId,
          supplierId,
          number: 'NC 1',
          issuedOn: a.house.day(-30),
          amount: 777,
          accountId,
        })
    }
    // More customers than a page of the report has.
    const incomeId = await a.account('4.3.08')
    for (let at = 0; at < customers; at += 1)
      await a.house.inHouse(async (trx) => {
        const amounts = [1_001, 90 * at + 1, 5_005]
        await makeInvoice(trx, {
          bookId: a.bookId,
          customerId: await makeCustomer(trx, 'company'),
          issuedOn: a.house.day(-120),
          lines: [{ description: 'Hall', unitAmount: amounts.reduce((sum, one) => sum + one, 0), accountId: incomeId }],
          installments: amounts.map((amount, index) => ({ amount, dueOn: a.house.day(-100 + 40 * index + (at % 50)) })),
        })
      })
  })
  beforeEach(() => a.calm())

  const fileOf = async (report: string, format: string): Promise<Buffer> => {
    const parameters = { bookId: a.bookId }
    const { id } = await a.good(a.finance, 'POST', 'reports/runs', { report, parameters, format, locale: 'en' })
    await world.drain({ kinds: ['reports.run'] })
    const run = await a.good(a.finance, 'GET', `reports/runs/${id}`)
    expect(run.status, JSON.stringify(run)).to.equal('succeeded')
    const reply = await fetch(`${world.baseUrl}/api/tenants/${a.house.tenantId}/reports/runs/${id}/file`, {
      headers: { authorization: `Bearer ${token}` },
    })
    expect(reply.status).to.equal(200)
    return Buffer.from(await reply.arrayBuffer())
  }
  /** All rows of the endpoint, page by page. */
  const shown = async (path: string): Promise<Ageing> => {
    const data: Amounts[] = []
    for (let page = 1; ; page += 1) {
      const reply = await a.good(a.finance, 'GET', `${path}?bookId=${a.bookId}&limit=50&page=${page}`)
      data.push(...(reply.data as Amounts[]))
      if (reply.data.length < 50) return { data, totals: reply.totals as Amounts }
    }
  }
  const minor = (text: unknown) => Math.round(Number(text) * 100)
  const money = (amount: unknown) =>
    (Number(amount) / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

  for (const [report, path, more] of [
    ['payables_ageing', 'accounts-payable/ageing', ['credits']],
    ['receivables_ageing', 'accounts-receivable/ageing', ['unbilled', 'availableReceipts']],
  ] as const)
    it(`${report}: CSV, XLSX, PDF and JSON say row by row what the endpoint says`, async () => {
      const names = [...buckets, ...more]
      const { data, totals } = await shown(path)
      const amountsOf = (row: Amounts) => names.map((name) => Number(row[name]))
      const wanted = data.map(amountsOf)
      expect(wanted.length).to.equal(path.startsWith('accounts-payable') ? 6 : customers)
      expect(
        amountsOf(totals)
          .slice(0, 5)
          .every((amount) => amount >= 0),
      ).to.equal(true)
      expect(totals['total']).to.equal(data.reduce((sum, row) => sum + Number(row['total']), 0))

      const json = JSON.parse((await fileOf(report, 'json')).toString('utf8')) as Ageing
      expect(json.data.map(amountsOf)).to.deep.equal(wanted)
      expect(amountsOf(json.totals)).to.deep.equal(amountsOf(totals))

      const rows = parse(await fileOf(report, 'csv'), { bom: true, relax_column_count: true, record_delimiter: '\r\n' })
      const table = rows.slice(-(wanted.length + 1)).map((row) => row.slice(-names.length).map(minor))
      expect(table.slice(0, -1)).to.deep.equal(wanted)
      expect(table.at(-1)).to.deep.equal(amountsOf(totals))

      const sheet = (await readSheet(await fileOf(report, 'xlsx'))) as unknown[][]
      const cells = sheet.slice(-(wanted.length + 1)).map((row) => row.slice(-names.length).map(minor))
      expect(cells.slice(0, -1)).to.deep.equal(wanted)
      expect(cells.at(-1)).to.deep.equal(amountsOf(totals))

      const pdf = await getDocumentProxy(new Uint8Array(await fileOf(report, 'pdf')))
      const text = (await extractText(pdf)).text.join(' ')
      for (const name of names) expect(text, name).to.contain(money(totals[name]))
      for (const { name } of data) expect(text).to.contain(String(name))
      const totalsFound = text.split(money(data[0]?.['total'])).length - 1
      expect(totalsFound).to.be.at.least(data.filter((row) => row['total'] === data[0]?.['total']).length)
    })
})
