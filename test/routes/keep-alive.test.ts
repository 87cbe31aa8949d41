import { expect } from 'chai'
import { Agent, get } from 'node:http'
import { useWorld } from '../support/world.ts'

describe('a connection that is kept open', () => {
  const world = useWorld()

  it('gathers nothing from one request to the next', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const warnings: string[] = []
    const hear = (warning: Error) => warnings.push(warning.message)
    process.on('warning', hear)
    const ask = () =>
      new Promise<number | undefined>((resolve, reject) => {
        get(`${world.baseUrl}/api/auth/me`, { agent }, (response) => {
          ports.add(response.socket.localPort)
          response.resume().once('end', () => resolve(response.statusCode))
        }).once('error', reject)
      })
    try {
      // Node warns from the eleventh listener on.
      for (let count = 0; count < 15; count += 1) expect(await ask()).to.equal(401)
    } finally {
      process.off('warning', hear)
      agent.destroy()
    }
    expect(ports.size).to.equal(1)
    expect(warnings).to.deep.equal([])
  })
})
