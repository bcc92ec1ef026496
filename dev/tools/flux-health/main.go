// flux-health EXPRESSIONS.json OBJECT.json prints the status that Flux would give an object by the health expressions of a
// Kustomization, as JSON: {"status": "Current"}. Where an expression cannot be evaluated, the status is Unknown, for which
// Flux waits, and "error" says why.
//
// It runs the library that Flux's own controllers decide with.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type health struct {
	Status string `json:"status"`
	Error  string `json:"error,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		stop(fmt.Errorf("usage: flux-health EXPRESSIONS.json OBJECT.json"))
	}
	text, err := os.ReadFile(os.Args[1])
	stop(err)
	var expressions kustomize.HealthCheckExpressions
	stop(json.Unmarshal(text, &expressions))
	text, err = os.ReadFile(os.Args[2])
	stop(err)
	var object unstructured.Unstructured
	stop(object.UnmarshalJSON(text))
	found, err := healthOf(&object, &expressions)
	stop(err)
	stop(json.NewEncoder(os.Stdout).Encode(found))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// healthOf fails only for expressions that Flux would refuse; what goes wrong with one object is part of what is found.
func healthOf(object *unstructured.Unstructured, expressions *kustomize.HealthCheckExpressions) (health, error) {
	evaluator, err := cel.NewStatusEvaluator(expressions)
	if err != nil {
		return health{}, err
	}
	result, err := evaluator.Evaluate(context.Background(), object)
	if err != nil {
		return health{status.UnknownStatus.String(), err.Error()}, nil
	}
	return health{result.Status.String(), ""}, nil
}
