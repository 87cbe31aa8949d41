import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import type { Outgoing } from '../../db/ocp/index.ts'
import { sendText } from '../../workers/providers/twilio.ts'
import { startTwilioPeer } from '../support/twilio-peer.ts'
import type { TwilioPeer } from '../support/twilio-peer.ts'

describe('requests to Twilio, by its published contract', () => {
  const before = settings.twilio.baseUrl
  let peer: TwilioPeer
  beforeEach(async () => {
    peer = await startTwilioPeer()
    settings.twilio.baseUrl = peer.baseUrl
  })
  afterEach(async () => {
    settings.twilio.baseUrl = before
    await peer.stop()
  })

  it('ask for what it has, also with contents and services of an own account, and for nothing else', async () => {
    const text: Outgoing = {
      attemptId: randomUUID(),
      kind: 'whatsapp',
      channelId: randomUUID(),
      transport: 'own',
      account: {
        twilio: {
          accountSid: peer.accountSid,
          authToken: peer.authToken,
          from: null,
          messagingServiceSid: `MG${'a'.repeat(32)}`,
        },
      },
      to: '+5524999990000',
      toName: 'Ana',
      fromName: null,
      fromAddress: null,
      replyTo: null,
      subject: '',
      text: '',
      html: null,
      contentSid: `HX${'b'.repeat(32)}`,
      contentVariables: { 1: 'Ana' },
      messageId: '<m.0@pousada.example>',
      startedAt: new Date(),
      callbackUrl: 'https://pousada.example/api/callbacks/messages/token',
      unsubscribeUrl: null,
      isPersonal: false,
    }
    expect((await sendText(text)).kind).to.equal('accepted')
    expect(peer.texts[0]).to.include({
      messagingServiceSid: `MG${'a'.repeat(32)}`,
      contentVariables: '{"1":"Ana"}',
      statusCallback: text.callbackUrl,
    })
    expect(peer.misuses).to.deep.equal([])
    await sendText({ ...text, contentSid: 'a name' })
    expect(peer.misuses.splice(0), 'the contract is heeded').to.have.length(1)
  })
})
