import { expect } from 'chai'
import type { Parsed } from '../support/client.ts'
import { useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './clerk.ts'
import { paulista } from './desk.ts'

describe('an invoice, its fiscal document and its reminders', function () {
  this.timeout(120_000)
  const world = useWorld()
  const mail = useMailPeer()

  const open = async () => {
    const a = await openReceivables(world)
    const set = (body: object) => a.good(a.owner, 'PUT', `accounts-receivable/settings?bookId=${a.bookId}`, body)
    const cnpj = async () => {
      const [row] = await a.rows<{ document: string }>(`select document from book where id = :bookId`)
      return row?.document ?? ''
    }
    return { ...a, set, cnpj }
  }

  it('is requested as the invoice is issued; a document that stands keeps it from being void', async () => {
    const a = await open()
    await a.set({
      fiscal: { adapter: 'sandbox', cityCode: '3550308', serviceCode: '0901', issRate: 500, automatic: true },
    })
    const customer = await a.customer({ document: await a.cnpj(), email: 'ok@firma.example', address: paulista })
    const made = await a.invoice({ customerId: customer.id, lines: [await a.line(90_000)] })
    await world.drain()
    const issued = await a.read(made.id)
    expect(issued.fiscalDocument).to.include({ status: 'authorised', rpsNumber: 1 })
    const voiding = { reason: 'Billed to the wrong firm' }
    const one = `accounts-receivable/receivables/${made.id}`
    expect(await a.refused(a.finance, 'POST', `${one}/void`, voiding)).to.deep.equal([422, 'fiscal_document_alive'])
    await a.good(a.finance, 'POST', `accounts-receivable/fiscal-documents/${issued.fiscalDocument.id}/cancel`, voiding)
    expect(await a.refused(a.finance, 'POST', `${one}/void`, voiding)).to.deep.equal([422, 'fiscal_document_alive'])
    await world.drain()
    expect(await a.good(a.finance, 'POST', `${one}/void`, voiding)).to.include({ status: 'void' })
    expect((await a.read(made.id)).fiscalDocument).to.include({ status: 'cancelled' })
    expect(await a.failing()).to.deep.equal([])
  })

  it('is listed with what its delay would cost and the level of its last reminder', async () => {
    const a = await open()
    const propertyId = await a.property()
    await a.rows(
      `update property set settings = jsonb_set(settings, '{messages}', '{"quietFrom": "00:00", "quietUntil": "00:00"}') where id = :propertyId`,
      { propertyId },
    )
    const steps = [{ level: 1, days: 5, channels: ['email'], stopCredit: true }]
    await a.set({ lateCharges: { fineRate: 200, monthlyInterestRate: 100 }, dunning: { enabled: true, steps } })
    const customer = await a.customer({ email: 'contas@firma.example', termDays: 15 })
    const made = await a.invoice({
      customerId: customer.id,
      issuedOn: a.house.day(-40),
      lines: [await a.line(116_667)],
      installments: [{ dueOn: a.house.day(-30), amount: 116_667 }],
    })
    await world.drain()
    await a.good(a.finance, 'POST', 'accounts-receivable/dunning-runs', { bookId: a.bookId })
    await world.drain()
    const { data } = await a.good(
      a.finance,
      'GET',
      `accounts-receivable/installments?bookId=${a.bookId}&customerId=${customer.id}`,
    )
    expect(data).to.have.length(1)
    expect(data[0]).to.deep.include({
      lastLevel: 1,
      daysOverdue: 30,
      lateCharges: { fine: 2_333, interest: 1_167, asOf: a.house.day(0) },
    })
    expect((await a.read(made.id)).notices.map((one: Parsed) => [one.level, one.status])).to.deep.equal([[1, 'sent']])
    expect(mail.peer.mails.map(({ to }) => to)).to.deep.equal([['contas@firma.example']])
    expect(await a.customerNow(customer.id)).to.include({ onHold: true, holdReason: 'Reminder of level 1' })
    const more = { bookId: a.bookId, customerId: customer.id, lines: [await a.line(100)], issue: true }
    expect(await a.refused(a.finance, 'POST', 'accounts-receivable/receivables', more)).to.deep.equal([
      422,
      'customer_on_hold',
    ])
  })
})
