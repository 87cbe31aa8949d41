import { expect } from 'chai'
import { isStopWord } from '../../db/ocp/rules/stop-word.ts'

describe('a stop word', () => {
  const said = [
    'stop', ' STOP. ', 'Párar', 'SAIR!', '*Cancelar*', '“baja”', 'ＳＴＯＰ', 'S\u200bair', 'Sair 🙏', '- parar -', 'Stop\n', 'Arrêt', 'DÉSABONNER', 'Stopp',
    'Opt-Out', 'dar  de baja', 'UNSUBSCRIBE',
  ] // oxfmt-ignore
  it('is heard in capitals, with accents, points and signs, and in the languages of guests', () => {
    expect(said.filter((text) => !isStopWord(text))).to.deep.equal([])
  })

  it('is heard above the mail that an answer quotes, and above a signature', () => {
    const answers = [
      'Sair\r\n\r\nEm ter., 24 de nov. de 2026 às 10:00, Pousada do Sol <\r\nhello@sol.example> escreveu:\r\n\r\n> Olá, Ana,\r\n> até logo\r\n',
      'STOP\n\nOn Tue, Nov 24, 2026 Pousada wrote:\n> Dear Ana',
      'parar\n> Olá',
      'Parar\n-- \nAna Souza\n+55 24 99999-0000',
      'stop\n\n-----Original Message-----\nFrom: Pousada\nDear Ana,',
    ]
    expect(answers.filter((text) => !isStopWord(text))).to.deep.equal([])
  })

  it('is not heard in what else a guest writes', () => {
    const others = [
      '', '?', 'Do not stop', 'Can I cancel?', 'Quero cancelar a reserva', 'Where is the bus stop?', 'stop it', 'sairemos',
      '> stop', 'Yes please\n\nOn Tue Pousada wrote:\n> Answer STOP to get no more', 'Bom dia\n-- \nStop',
    ] // oxfmt-ignore
    expect(others.filter(isStopWord)).to.deep.equal([])
  })
})
