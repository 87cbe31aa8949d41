import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { cnpj } from '../financial/accountant.ts'
import type { Parsed } from '../support/client.ts'
import { useWorld } from '../support/world.ts'
import { openPayables } from './desk.ts'

const bills = 'accounts-payable/payables'
const credits = 'accounts-payable/credits'

describe('one bill of one payee', function () {
  this.timeout(120_000)
  const world = useWorld()
  let a: Awaited<ReturnType<typeof openPayables>>
  let accountId: string
  before(async () => {
    a = await openPayables(world)
    accountId = await a.account('6.4.03')
  })
  beforeEach(() => a.calm())

  const bill = (payee: object, more: object = {}) => ({
    bookId: a.bookId,
    kind: 'bill',
    issuedOn: a.on('03-10'),
    lines: [{ description: 'Work', accountId, amount: 5_000 }],
    ...payee,
    ...more,
  })
  const create = (body: object) => a.send(a.finance, 'POST', bills, body)
  const made = async (body: object): Promise<string> => (await a.good(a.finance, 'POST', bills, body)).id
  const isTwinOf = async (body: object, first: string) => {
    const [status, reply] = await create(body)
    expect([status, reply.code]).to.deep.equal([409, 'duplicate_payable'])
    expect(reply.errors).to.deep.equal([{ field: 'number', message: `is that of payable ${first}` }])
  }
  const numbered = () => ({ number: `NF-${randomUUID().slice(0, 8)}` })
  const points = (document: string) => `${document.slice(0, 2)}.${document.slice(2, 8)}/${document.slice(8)}`

  it('is told as one, whether its payee is named as a supplier or by name, by tax number', async () => {
    const document = cnpj()
    const { id: supplierId } = await a.supplier({ document, legalName: 'Obras do Vale Ltda' })
    const number = numbered()
    const named = { payeeName: 'Vale', payeeDocument: points(document) }
    const first = await made(bill({ supplierId }, number))
    await isTwinOf(bill(named, { number: number.number.toLowerCase() }), first)
    // In the other order, too; a void one is none, and another series is another bill.
    const other = numbered()
    const byName = await made(bill(named, other))
    await isTwinOf(bill({ supplierId }, other), byName)
    await made(bill({ supplierId }, { ...other, series: '2' }))
    await a.good(a.finance, 'POST', `${bills}/${byName}/void`, { reason: 'Entered twice' })
    await made(bill({ supplierId }, other))
    // A draft that is given the number, or the payee, of another is one as well.
    const draft = await made(bill(named))
    const change = (body: object) => a.refused(a.finance, 'PATCH', `${bills}/${draft}`, body)
    expect(await change(number)).to.deep.equal([409, 'duplicate_payable'])
    // Firms of one name are told apart by their numbers.
    await made(bill({ payeeName: 'Obras do Vale Ltda', payeeDocument: cnpj() }, number))
  })

  it('is told by name where a tax number is not known, whatever its accents, case and spaces', async () => {
    const { id: supplierId } = await a.supplier({ legalName: 'Padaria Pão Doce Ltda', tradeName: 'Pão Doce' })
    const number = numbered()
    const first = await made(bill({ supplierId }, number))
    await isTwinOf(bill({ payeeName: ' PAO  DOCE' }, number), first)
    await isTwinOf(bill({ payeeName: 'padaria pao doce ltda', payeeDocument: cnpj() }, number), first)
    await made(bill({ payeeName: 'Padaria' }, number))
    // Two suppliers of one name are two.
    const { id: other } = await a.supplier({ legalName: 'Padaria Pão Doce Ltda' })
    await made(bill({ supplierId: other }, number))
  })

  it('is recorded once by ten clerks at the same time, each in their own way', async () => {
    const document = cnpj()
    const { id: supplierId } = await a.supplier({ document })
    const number = numbered()
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        create(bill(at % 2 === 0 ? { supplierId } : { payeeName: `Clerk ${at}`, payeeDocument: document }, number)),
      ),
    )
    const kept = replies.filter(([status]) => status === 201)
    expect(kept).to.have.length(1)
    for (const [status, reply] of replies)
      if (status !== 201) {
        expect([status, reply.code]).to.deep.equal([409, 'duplicate_payable'])
        expect(JSON.stringify(reply.errors)).to.include(kept[0]?.[1].id)
      }
  })

  it('without a number is warned of, across both ways to name its payee', async () => {
    const document = cnpj()
    const { id: supplierId } = await a.supplier({ document })
    const first = await made(bill({ supplierId }))
    const { warnings } = (await create(bill({ payeeName: 'Firm', payeeDocument: document })))[1]
    expect((warnings as Parsed[]).map(({ code, payableId }) => [code, payableId])).to.deep.equal([
      ['possible_duplicate', first],
    ])
    const other = (await create(bill({ payeeName: 'Other', payeeDocument: cnpj() })))[1]
    expect(other.warnings).to.deep.equal([])
  })

  it('is credited once by a credit note of one number', async () => {
    const document = cnpj()
    const { id: supplierId } = await a.supplier({ document })
    const note = (payee: object, number: string) => ({
      bookId: a.bookId,
      number,
      issuedOn: a.on('03-12'),
      amount: 500,
      accountId,
      ...payee,
    })
    const { id } = await a.good(a.finance, 'POST', credits, note({ supplierId }, 'NC-7'))
    const [status, reply] = await a.send(
      a.finance,
      'POST',
      credits,
      note({ payeeName: 'Firm', payeeDocument: document }, 'nc-7'),
    )
    expect([status, reply.code, reply.errors[0].message]).to.deep.equal([
      409,
      'duplicate_credit',
      `is that of supplier credit ${id}`,
    ])
    await a.good(a.finance, 'POST', credits, note({ payeeName: 'Firm', payeeDocument: document }, 'NC-8'))
  })
})
