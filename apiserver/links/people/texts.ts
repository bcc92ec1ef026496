import type { PageLanguage } from "#core/schema/apps/pages.ts";

/** What the pages for people say. `{who}` and `{sender}` stand for an address and for who writes to it. */
export type Texts = {
  unsubscribe: string;
  /** What the button does. */
  question: string;
  done: string;
  doneText: string;
  choose: string;
  chooseText: string;
  save: string;
  saved: string;
  isOut: string;
  you: string;
};

export const texts: Readonly<Record<PageLanguage, Texts>> = {
  en: {
    unsubscribe: "Unsubscribe",
    question: "{who} will get no more mails from {sender}.",
    done: "You are unsubscribed",
    doneText: "{who} will get no more mails from {sender}.",
    choose: "Choose your mails",
    chooseText: "Mails from {sender} that {who} gets:",
    save: "Save",
    saved: "Your choice is saved.",
    isOut: "{who} gets no mails from {sender} at present.",
    you: "You",
  },
  de: {
    unsubscribe: "Abmelden",
    question: "{who} erhält keine E-Mails von {sender} mehr.",
    done: "Sie sind abgemeldet",
    doneText: "{who} erhält keine E-Mails von {sender} mehr.",
    choose: "E-Mails auswählen",
    chooseText: "E-Mails von {sender} an {who}:",
    save: "Speichern",
    saved: "Ihre Auswahl ist gespeichert.",
    isOut: "{who} erhält zurzeit keine E-Mails von {sender}.",
    you: "Ihre Adresse",
  },
  fr: {
    unsubscribe: "Se désabonner",
    question: "{who} ne recevra plus d’e-mails de {sender}.",
    done: "Vous êtes désabonné(e)",
    doneText: "{who} ne recevra plus d’e-mails de {sender}.",
    choose: "Choisir vos e-mails",
    chooseText: "E-mails de {sender} envoyés à {who} :",
    save: "Enregistrer",
    saved: "Votre choix est enregistré.",
    isOut: "{who} ne reçoit actuellement aucun e-mail de {sender}.",
    you: "Votre adresse",
  },
  es: {
    unsubscribe: "Darse de baja",
    question: "{who} no recibirá más correos de {sender}.",
    done: "Se ha dado de baja",
    doneText: "{who} no recibirá más correos de {sender}.",
    choose: "Elegir sus correos",
    chooseText: "Correos de {sender} que recibe {who}:",
    save: "Guardar",
    saved: "Su elección está guardada.",
    isOut: "{who} no recibe ahora ningún correo de {sender}.",
    you: "Su dirección",
  },
  it: {
    unsubscribe: "Annulla iscrizione",
    question: "{who} non riceverà più e-mail da {sender}.",
    done: "Iscrizione annullata",
    doneText: "{who} non riceverà più e-mail da {sender}.",
    choose: "Scegliere le e-mail",
    chooseText: "E-mail di {sender} inviate a {who}:",
    save: "Salva",
    saved: "La scelta è salvata.",
    isOut: "{who} al momento non riceve e-mail da {sender}.",
    you: "Il suo indirizzo",
  },
  pt: {
    unsubscribe: "Cancelar inscrição",
    question: "{who} não receberá mais e-mails de {sender}.",
    done: "Inscrição cancelada",
    doneText: "{who} não receberá mais e-mails de {sender}.",
    choose: "Escolher os e-mails",
    chooseText: "E-mails de {sender} enviados a {who}:",
    save: "Guardar",
    saved: "A sua escolha está guardada.",
    isOut: "{who} não recebe de momento e-mails de {sender}.",
    you: "O seu endereço",
  },
  nl: {
    unsubscribe: "Afmelden",
    question: "{who} krijgt geen e-mails van {sender} meer.",
    done: "U bent afgemeld",
    doneText: "{who} krijgt geen e-mails van {sender} meer.",
    choose: "E-mails kiezen",
    chooseText: "E-mails van {sender} aan {who}:",
    save: "Opslaan",
    saved: "Uw keuze is opgeslagen.",
    isOut: "{who} krijgt op dit moment geen e-mails van {sender}.",
    you: "Uw adres",
  },
};
