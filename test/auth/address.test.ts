import { expect } from 'chai'
import { clientOf, isWithin, lastUntrusted, neighbourhoodOf, networkOf } from '../../api/lib/address.ts'

describe('the address of a client', () => {
  const proxies = ['10.0.0.0/8', '2001:db8:aaaa::/48', '192.0.2.1'].map(networkOf)
  const of = (connected: string, forwardedFor = '') => lastUntrusted(connected, forwardedFor, proxies)

  it('is that of the connection, unless a trusted proxy made it', () => {
    expect(of('203.0.113.5')).to.equal('203.0.113.5')
    expect(of('203.0.113.5', '198.51.100.1')).to.equal('203.0.113.5')
    expect(of('::ffff:203.0.113.5')).to.equal('203.0.113.5')
    expect(of('10.1.2.3', '198.51.100.1')).to.equal('198.51.100.1')
    expect(of('::ffff:10.1.2.3', '198.51.100.1')).to.equal('198.51.100.1')
    expect(of('2001:db8:aaaa::1', '2001:db8:1::7')).to.equal('2001:db8:1::7')
  })

  it('is the last hop that is no proxy of ours, whatever stands in front of it', () => {
    expect(of('10.1.2.3', '1.1.1.1, 198.51.100.1')).to.equal('198.51.100.1')
    expect(of('10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.1, 10.9.9.9')).to.equal('198.51.100.1')
    expect(of('10.1.2.3', '10.0.0.1, 10.0.0.2')).to.equal('10.0.0.1')
    expect(of('10.1.2.3', '')).to.equal('10.1.2.3')
  })

  it('is not read from what is no address', () => {
    for (const bad of ['unknown', '0x7f.1', '017.0.0.1', '1', '1.1.1.1.1', "'; drop", '[::1', '::g'])
      expect(of('10.1.2.3', `198.51.100.1, ${bad}`), bad).to.equal('10.1.2.3')
    expect(of('10.1.2.3', '198.51.100.1:4711')).to.equal('198.51.100.1')
    expect(of('10.1.2.3', '[2001:db8:1::7]:4711')).to.equal('2001:db8:1::7')
    expect(of('')).to.equal('0.0.0.0')
  })

  it('counts as one address, or as one IPv6 network of 64 bits; its neighbourhood is /24 or /48', () => {
    expect([clientOf('203.0.113.5'), clientOf('2001:db8:1:2:3::4')]).to.deep.equal([
      '203.0.113.5/32',
      '2001:db8:1:2::/64',
    ])
    expect([neighbourhoodOf('203.0.113.5'), neighbourhoodOf('2001:db8:1:2:3::4')]).to.deep.equal([
      '203.0.113.0/24',
      '2001:db8:1::/48',
    ])
  })

  it('is within a network of its own kind alone', () => {
    expect(isWithin('203.0.113.5', ['203.0.113.0/24'])).to.equal(true)
    expect(isWithin('::ffff:203.0.113.5', ['203.0.113.5'])).to.equal(true)
    expect(isWithin('203.0.114.5', ['203.0.113.0/24', '2001:db8::/32'])).to.equal(false)
    expect(isWithin('nothing', ['0.0.0.0/0'])).to.equal(false)
  })
})
