import { expect } from 'chai'
import { settings } from '../../config/env.ts'
import { startTwilioPeer } from './twilio-peer.ts'
import type { TwilioPeer } from './twilio-peer.ts'

/** A Twilio that the service's own account writes to while the surrounding describe runs. Each test begins with none of its texts, and ends without a misuse. */
export const useTwilio = (): { readonly peer: TwilioPeer } => {
  const unset = { ...settings.twilio }
  let peer: TwilioPeer | null = null
  before(async () => {
    peer = await startTwilioPeer()
    const { accountSid, authToken, baseUrl } = peer
    Object.assign(settings.twilio, {
      accountSid,
      authToken,
      baseUrl,
      from: '+15005550006',
      whatsappFrom: '+15005550007',
    })
  })
  beforeEach(() => {
    peer?.behave('accept')
    peer?.texts.splice(0)
  })
  afterEach(() => {
    expect(peer?.misuses).to.deep.equal([])
  })
  after(async () => {
    Object.assign(settings.twilio, unset)
    await peer?.stop()
  })
  return {
    get peer() {
      if (!peer) throw new Error('the peer is there from the first before hook on')
      return peer
    },
  }
}
