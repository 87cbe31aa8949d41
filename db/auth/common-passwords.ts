/**
 * What people take when they have to take something: words and names that lead every list of passwords that leaked, in the languages of our
 * houses. A password made of nothing else, with whatever digits, signs and doublings, is common; see strength.ts.
 */
const words = `
  abacaxi abacate abrakadabra access account acesso administrador administrator admin adobe aeroporto afonso airport alegria alemanha
  alessandra alexander alexandra alexandre alfredo aline alisson always amanda amarelo america americo amigo amigos amizade amor amorzinho
  amoreterno amormeu andrea andreia andrew andressa angel angela angelica angels anderson animal anjinho anjo anthony antonio apple
  aquarius argentina arsenal arthur asdf asdfgh asdfghjkl ashley atletico august austin autumn azerty azul babygirl baby bailey banana
  barbara barcelona baseball basketball batman beatriz beautiful bella benfica bianca bienvenido bienvenue biscoito blessed blink bonita
  boomer borboleta botafogo brandon brasil brasileiro brazil brooklyn brother bruna bruno buddy butterfly cachorro cadastro camera camila
  campeao carinho carlos carolina caroline casa cavalo cebola change changeme charles charlie cheese chelsea chester chicago chicken
  chocolate chris christian christina christopher cidade cisco claudia claudio cleide coelho coffee colega colorado company computador
  computer contrasena contraseña cookie corazon coracao coração corinthians cowboy cristal cristiano cristina cruzeiro daniel daniela
  danielle dakota dallas david deborah december default denise desenvolvimento deus deusefiel deusmeama diamante diamond diego digital
  dinheiro dolphin donald dragon dreams eagle edinburgh eduardo eduarda elephant elizabeth email emerson emilia england enter entrada
  equipe espana españa esperanca esperança estrela estrella eternamente eunice evelyn fabiana fabiano fabio facebook familia family fatima
  february felicidade felipe fender fernanda fernando ferrari filho flamengo flavia flavio florencia flores flower fluminense football forever
  formula formula1 fortaleza fortuna francisco franklin freedom freitas friday friend friends futebol futbol gabriel gabriela
  galaxy gandalf garden gatinha gatinho gatita gato geheim george gerente ginger gisele glauber google gorgeous graziela gremio guest
  guilherme guitar guitarra gustavo hamster hannah happy harley harry heather heitor helena hello helloworld henrique hermosa hockey hola
  holiday homem hotel house hotmail hospedagem hunter iceman iloveu iloveyou iloveu2 ingles inter internacional internet isabel isabella
  isabela jackson jacqueline james january jasmine jason jefferson jennifer jeremy jessica jesus jesuscristo jesuschrist jesuslove
  jesusteama joao john johnny jonathan jordan jordan23 jose joseph joshua juliana juliano julio junho junior justin justinbieber karina karine
  katherine kevin killer kitty larissa laura lauren leandro legal lemon leonardo leticia letmein liberdade liberty lindinha linda lindo
  linkinpark lisboa liverpool loading login logitech london lorena louise love lovely loveme lover loveyou lucas lucia luciana luciano
  lucky luiz lulu macaco madrid maggie magic maisha manager manchester manoel manuela marcela marcelo marcia marco marcos margarita maria
  mariana marie mariposa marina mario marlon martin martina master matheus matrix matthew mauricio maverick maxwell melancia melissa
  mercedes merlin metallica mexico michael michel michele michelle mickey miguel minecraft minhasenha minhavida mistress monday money monica
  monkey monster moonlight morango morena mother motorola mudar mudar123 mudeme muhammad mustang mynoob naruto natal natalia natasha nathalia
  nathan neymar nicholas nicolas nicole nintendo nirvana november october office oliveira oliver ocean orange otavio ourson palmeiras
  pantera paola paris parola passaword passport passw0rd password passwort pass pastor patricia patrick paulo paula pegasus pelota pepper
  perfect phoenix picture pikachu pineapple pink poderoso pokemon polaris police porsche portugal power praia preciosa pretty priscila
  priscilla princesa princess principe private professor purple qazwsx qazwsxedc qazxsw qwer qwert qwerty qwertyu qwertyui qwertyuiop
  rabbit rafael rafaela rainbow raiders ranger raquel raymond realmadrid rebecca reception recepcao recepção regina reginaldo reinaldo
  renata renato ricardo richard robert roberta roberto robinson rocknroll rodrigo rodrigues rogerio romance ronaldinho ronaldo root rosana
  rosangela rosario roxana sabrina samantha samsung samuel sandra santiago santos sao saopaulo sara saturday saudade school scooter
  sebastian secret segredo seguranca segurança senha senhas september server service shadow shakira shannon sheila shopping silver silvana
  silva silvia simone sister skywalker slipknot smile snoopy snowball soccer sofia softball solange soledad sophia soraya souza spider
  spiderman spring starwars start stefany steven strawberry summer sunday sunshine super superadmin superman support suporte suzana
  sweetheart sweety sysadmin system taylor teamo teamoamor teamomucho teddy telefone temporal temporary tennis teresa test tester teste
  testing teste123 thailand thiago thomas thunder thursday tiffany tigers tinkerbell tomate toor toyota tristan trustno trustnoone
  tudobem tuesday tweety twilight ubuntu universo user usuario usuário valentina valentine valeria vampire vanessa vanilla vasco
  vencedor veronica vicente victor victoria vida viking violeta virginia visitante vitoria vitória viviane volcom volleyball wagner warcraft
  warrior wednesday welcome wellington wesley whatever william willian winner winter wizard wolverine wordpass xavier yamaha yankees
  yasmin yellow zaq zxcvb zxcvbn zxcvbnm zxc qaz wsx edc poiuytrewq mnbvcxz lkjhgfdsa
`

/** In lower case, longest first. */
export const commonWords: readonly string[] = [
  ...new Set(words.split(/\s+/).filter((word) => word.length > 2)),
].toSorted((a, b) => b.length - a.length)
