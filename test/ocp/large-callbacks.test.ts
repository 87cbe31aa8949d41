import { expect } from 'chai'
import { said, useWritingHouse } from './support.ts'

describe('callbacks of message providers', function () {
  this.timeout(120_000)
  const house = useWritingHouse()

  it('are taken up to a mebibyte, and refused above', async () => {
    const of = (MessageSid: string, length: number) =>
      house.twilioSays('sms', { MessageSid, From: '+5524999990000', Body: 'x'.repeat(length) })
    expect((await of(`SM${'1'.repeat(32)}`, 1_048_000)).status).to.equal(200)
    expect(said(await of(`SM${'2'.repeat(32)}`, 1_048_577))).to.deep.equal([400, 'body_invalid'])
  })
})
