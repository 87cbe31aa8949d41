import { expect } from 'chai'
import { registerPixCharges } from '../../db/accounts-receivable/index.ts'
import type { PixCode } from '../../db/accounts-receivable/sending/pix.ts'
import { useMailPeer } from '../support/messages.ts'
import { useWorld } from '../support/world.ts'
import { openReceivables } from './desk.ts'
import type { Receivables } from './desk.ts'

describe('sending an invoice', function () {
  this.timeout(120_000)
  const world = useWorld()
  const mail = useMailPeer()
  let a: Receivables
  beforeEach(async () => {
    a = await openReceivables(world)
    await a.property()
  })

  const statusOf = async (id: string) => {
    const [row] = await a.rows<{ status: string }>(`select status from receivable_sending where id = :id`, { id })
    return row?.status
  }

  it('writes to the customer in their language what is open, once, and tells that it was sent', async () => {
    const receivableId = await a.issued(await a.customer({ email: 'contas@mar.example', language: 'pt-BR' }), [
      [a.day(10), 100_000],
      [a.day(40), 50_050],
    ])
    const sending = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
      channels: ['email'],
      message: 'Obrigado pela visita.',
    })
    expect(sending).to.include({ receivableId, status: 'queued', withPix: false })
    await world.drain()
    expect(mail.peer.mails).to.have.length(1)
    const [{ subject, text, to } = { subject: '', text: '', to: [''] }] = mail.peer.mails
    expect(to).to.deep.equal(['contas@mar.example'])
    expect(subject).to.match(/^Fatura/)
    expect(text).to.include('Obrigado pela visita.').and.include('1.500,50').and.include('500,50')
    expect(await statusOf(sending.id)).to.equal('sent')
    const [row] = await a.rows<{ sent: boolean; events: string }>(
      `select sent_at is not null and sent_to is not null as sent,
         (select count(*) from event where type = 'receivable.sent' and entity->>'id' = cast(r.id as text)) as events from receivable r where id = :receivableId`,
      { receivableId },
    )
    expect([row?.sent, Number(row?.events)]).to.deep.equal([true, 1])
    await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
      channels: ['email'],
      to: 'chefe@mar.example',
    })
    await world.drain()
    expect(mail.peer.mails.map((one) => one.to[0])).to.deep.equal(['contas@mar.example', 'chefe@mar.example'])
  })

  it('is refused without an address, with one of another channel, and for what is not issued', async () => {
    const silent = await a.issued(await a.customer({ email: null }), [[a.day(10), 1_000]])
    const refused = (id: string, body: object) => a.refused(a.finance, 'POST', `receivables/${id}/send`, body)
    expect(await refused(silent, { channels: ['email'] })).to.deep.equal([422, 'recipient_missing'])
    expect(await refused(silent, { channels: ['email'], to: '+5524999990001' })).to.deep.equal([
      400,
      'validation_failed',
    ])
    expect(await refused(silent, { channels: ['whatsapp'], to: '12345' })).to.deep.equal([400, 'validation_failed'])
    await a.rows(`update receivable set status = 'void', voided_on = current_date where id = :silent`, { silent })
    expect(await refused(silent, { channels: ['email'], to: 'x@y.example' })).to.deep.equal([409, 'invalid_transition'])
  })

  it('does not leave once the document is void', async () => {
    const receivableId = await a.issued(await a.customer(), [[a.day(10), 1_000]])
    const { id } = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, { channels: ['email'] })
    await world.drain({ kinds: ['messages.send-receivable'] })
    await a.rows(`update receivable set status = 'void', voided_on = current_date where id = :receivableId`, {
      receivableId,
    })
    await world.drain()
    expect(mail.peer.mails).to.deep.equal([])
    expect(await statusOf(id)).to.equal('failed')
  })

  describe('with Pix', () => {
    const bank: { codes: PixCode[]; asked: number } = { codes: [], asked: 0 }
    before(() =>
      registerPixCharges({
        request: (_, __, most) => {
          bank.asked = most
          return Promise.resolve()
        },
        codes: () => Promise.resolve(bank.codes),
      }),
    )
    const send = async () => {
      const receivableId = await a.issued(await a.customer(), [[a.day(10), 1_000]])
      const [part] = await a.rows<{ id: string }>(
        `select id from receivable_installment where receivable_id = :receivableId`,
        { receivableId },
      )
      bank.codes = [{ installmentId: part?.id ?? '', code: null, isOver: false }]
      const sending = await a.good(a.finance, 'POST', `receivables/${receivableId}/send`, {
        channels: ['email'],
        withPix: true,
      })
      return { part: part?.id ?? '', id: sending.id as string }
    }

    it('waits for codes that the bank has not made, and carries them', async () => {
      const { part, id } = await send()
      expect(bank.asked).to.equal(12)
      await world.drain()
      expect([await statusOf(id), mail.peer.mails.length]).to.deep.equal(['queued', 0])
      bank.codes = [{ installmentId: part, code: '00020126PIX', isOver: false }]
      await world.drain({ aheadMs: 6_000 })
      expect(mail.peer.mails[0]?.text).to.include('00020126PIX')
      expect(await statusOf(id)).to.equal('sent')
    })

    it('goes without them after two minutes', async () => {
      const { id } = await send()
      await world.drain()
      await a.rows(`update receivable_sending set pix_until = now() where id = :id`, { id })
      await world.drain({ aheadMs: 6_000 })
      expect(mail.peer.mails).to.have.length(1)
      expect(mail.peer.mails[0]?.text).not.to.include('Pix')
      expect(await statusOf(id)).to.equal('sent')
    })
  })
})
