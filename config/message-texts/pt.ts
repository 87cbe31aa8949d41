import type { MessageTexts } from './templates.ts'

export const portuguese: MessageTexts = {
  'reservation-confirmed': {
    subject: 'Sua reserva {{reservation.number}} em {{property.name}} está confirmada',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Obrigado por reservar conosco. Sua reserva está confirmada.

Reserva: {{reservation.number}}
Chegada: {{reservation.arrival | date}}, a partir de {{property.checkInFrom | time | default:"início da tarde"}}
Saída: {{reservation.departure | date}}, até {{property.checkOutUntil | time | default:"meio-dia"}}
Noites: {{reservation.nights}}
Acomodação: {{reservation.unitType}}, {{reservation.ratePlan}}
Adultos: {{reservation.adults}}, crianças: {{reservation.children}}

Total da estadia: {{reservation.total | money}}
Pago até agora: {{booking.paid | money}}
A pagar: {{booking.balance | money}}

Alterações e cancelamento: {{reservation.cancellation | default:"fale conosco"}}

Esperamos por você.

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: reserva {{reservation.number}} confirmada, de {{reservation.arrival | date}} a {{reservation.departure | date}}.`,
  },
  'reservation-cancelled': {
    subject: 'Sua reserva {{reservation.number}} em {{property.name}} foi cancelada',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Sua reserva {{reservation.number}}, de {{reservation.arrival | date}} a {{reservation.departure | date}}, foi cancelada.

Taxa de cancelamento: {{reservation.fee | money}}
A devolver: {{booking.returned | money}}

O que foi pago além da taxa volta para você pelo mesmo meio de pagamento. Dependendo do seu banco, pode levar alguns dias.

Se não foi você quem pediu, fale conosco imediatamente. Esperamos receber você em outra ocasião.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: a reserva {{reservation.number}} foi cancelada. Taxa: {{reservation.fee | money}}.`,
  },
  'payment-captured': {
    subject: 'Recebemos seu pagamento de {{payment.amount | money}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Recebemos seu pagamento. Obrigado.

Reserva: {{booking.number}}
Valor: {{payment.amount | money}}
Forma de pagamento: {{payment.method}}

Total da reserva: {{booking.total | money}}
Pago até agora: {{booking.paid | money}}
A pagar: {{booking.balance | money}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: recebemos {{payment.amount | money}} pela reserva {{booking.number}}. Obrigado.`,
  },
  'payment-returned': {
    subject: 'Seu pagamento da reserva {{booking.number}} será devolvido',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Seu pagamento da reserva {{booking.number}} chegou depois do prazo, e a acomodação já não estava livre.

Devolvemos o valor inteiro pelo mesmo meio de pagamento: {{booking.returned | money}}. Dependendo do seu banco, pode levar alguns dias.

Sentimos muito, e teremos prazer em ajudar a encontrar outras datas.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: seu pagamento de {{booking.returned | money}} chegou depois do prazo e será devolvido.`,
  },
  'pre-arrival': {
    subject: 'Até breve, em {{property.name}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Sua estadia começa em {{reservation.arrival | date}}. O check-in é a partir de {{property.checkInFrom | time | default:"início da tarde"}}, e o check-out até {{property.checkOutUntil | time | default:"meio-dia"}}.

Traga um documento de identidade de cada hóspede. Diga a que horas pretende chegar, ou se precisa de algo antes: basta responder a esta mensagem.

Ficha de registro: {{registration.link | default:"na recepção, ao chegar"}}

Reserva: {{reservation.number}}
A pagar: {{booking.balance | money}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: esperamos você em {{reservation.arrival | date}}, check-in a partir de {{property.checkInFrom | time | default:"início da tarde"}}. Traga seus documentos. Ficha de registro: {{registration.link | default:"na recepção"}}`,
  },
  'arrival-day': {
    subject: 'Como chegar hoje a {{property.name}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

É hoje! Estamos aqui:

{{property.address | default:"Peça-nos indicações do caminho."}}

O check-in é a partir de {{property.checkInFrom | time | default:"início da tarde"}}. Se estiver perdido ou atrasado, ligue: {{property.phone | default:"veja nosso site"}}.

Boa viagem.

{{property.name}}`,
    sms: `{{property.name}}: é hoje! {{property.address | default:""}} Check-in a partir de {{property.checkInFrom | time | default:"início da tarde"}}. {{property.phone | default:""}}`,
  },
  'thank-you': {
    subject: 'Obrigado por se hospedar em {{property.name}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Obrigado pela sua visita. Esperamos que tenha chegado bem em casa.

Algo não foi como deveria, ou você esqueceu alguma coisa? Basta responder a esta mensagem.

Volte sempre.

{{property.name}}
{{property.website | default:""}}`,
    sms: `{{property.name}}: obrigado pela sua estadia. Volte sempre.`,
  },
  'booking-access-code': {
    subject: 'Seu código da reserva {{booking.number}}',
    text: `Seu código para ver a reserva {{booking.number}} em {{property.name}}:

{{code | default:"peça um novo código"}}

Ele vale por 10 minutos. Se não foi você quem pediu, não precisa fazer nada: sem o código ninguém vê sua reserva.

{{property.name}}`,
    sms: `{{property.name}}: seu código é {{code | default:"indisponível"}}. Vale por 10 minutos.`,
  },
  'payment-link': {
    subject: 'Pagamento da reserva {{booking.number}} em {{property.name}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Pague {{payment.amount | money}} da reserva {{booking.number}} aqui:

{{link | default:"peça um novo link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: pague {{payment.amount | money}} aqui: {{link | default:"peça um novo link"}}`,
  },
  'registration-link': {
    subject: 'Faça seu registro para a estadia em {{property.name}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Antes da sua estadia, a partir de {{reservation.arrival | date}}, a lei pede o registro dos hóspedes. Leva dois minutos e dispensa o formulário na recepção:

{{link | default:"peça um novo link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: faça seu registro para a estadia: {{link | default:"peça um novo link"}}`,
  },
  'issue-opened': {
    subject: 'Estamos cuidando disso: {{issue.title | default:"sua mensagem"}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Recebemos sua mensagem, número {{issue.number}}, e alguém já está cuidando dela:

{{issue.title | default:""}}

Voltamos a falar com você assim que possível.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: mensagem {{issue.number}} recebida, estamos cuidando dela.`,
  },
  'bank-details-changed': {
    subject: 'Os seus dados bancários em {{property.name}}',
    text: `Olá,

há uma alteração nos dados bancários pelos quais {{property.name}} paga a sua empresa: dados novos foram propostos ou uma proposta foi decidida.

Se não foi você que pediu, avise-nos já, por um telefone que você conhece. Não responda a mensagens que peçam senhas ou novos dados.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: há uma alteração nos seus dados bancários. Não pediu? Avise-nos já.`,
  },
  'purchase-order': {
    subject: 'Pedido de compra {{order.number}} de {{property.name}}',
    text: `Olá, {{order.supplier}},

pedimos a entrega em {{property.name}}, {{property.address | default:""}}:

{{order.lines}}

Total: {{order.total | money}}
Previsto para: {{order.expectedOn | date | default:"assim que possível"}}

{{order.notes | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: pedido de compra {{order.number}}, {{order.total | money}}.`,
  },
  'receivable-invoice': {
    subject: 'Fatura {{receivable.number | default:""}} de {{property.name}}',
    text: `Olá, {{receivable.customer | default:"cliente"}},

{{receivable.message | default:"segue a sua fatura."}}

Fatura: {{receivable.number | default:"-"}}
Sua referência: {{receivable.reference | default:"-"}}
Emitida em: {{receivable.issuedOn | date | default:"-"}}
Total: {{receivable.total | money | default:"-"}}
A pagar: {{receivable.open | money | default:"-"}}

Vencimentos:
{{receivable.installments | default:"-"}}

{{receivable.pix | default:""}}

{{property.name}}
{{property.address | default:""}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: fatura {{receivable.number | default:""}}, {{receivable.open | money | default:""}}, vence {{receivable.dueOn | date | default:""}}. {{receivable.pix | default:""}}`,
  },
  'dunning-notice': {
    subject:
      'Lembrete {{dunning.level | default:""}}: {{dunning.total | money | default:""}} a pagar a {{property.name}}',
    text: `Olá, {{receivable.customer | default:"cliente"}},

consta em aberto:

{{dunning.installments | default:"-"}}

No total: {{dunning.total | money | default:"-"}}

Se você já pagou, desconsidere este lembrete. Se não puder pagar no prazo, fale com a gente.

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: {{dunning.total | money | default:""}} em aberto. Se não estiver certo, fale com a gente.`,
  },
  'issue-comment': {
    subject: 'Nossa resposta: {{issue.title | default:"sua mensagem"}}',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Sobre sua mensagem, número {{issue.number}}:

{{issue.comment | default:""}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: sobre a mensagem {{issue.number}}: {{issue.comment | default:""}}`,
  },
  'issue-satisfaction': {
    subject: 'Como foi o nosso atendimento?',
    text: `Olá, {{guest.firstName | default:"hóspede"}},

Sua mensagem, número {{issue.number}}, foi atendida. Diga-nos com um clique, de 1 a 5, como foi o nosso atendimento:

{{link | default:"peça um novo link"}}

{{property.name}}
{{property.phone | default:""}}`,
    sms: `{{property.name}}: como foi o atendimento da mensagem {{issue.number}}? {{link | default:"peça um novo link"}}`,
  },
}
