// argocd-health HEALTH.lua OBJECT.json prints the health that Argo CD would give an object by the script of its kind, as JSON.
//
// It runs the libraries that Argo CD's own controllers decide with: a script from its configuration has a second of time and
// only a few of Lua's libraries, and is not asked about an object that is being deleted.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func main() {
	if len(os.Args) != 3 {
		stop(fmt.Errorf("usage: argocd-health HEALTH.lua OBJECT.json"))
	}
	script, err := os.ReadFile(os.Args[1])
	stop(err)
	text, err := os.ReadFile(os.Args[2])
	stop(err)
	var object unstructured.Unstructured
	stop(object.UnmarshalJSON(text))
	found, err := healthOf(&object, string(script))
	stop(err)
	stop(json.NewEncoder(os.Stdout).Encode(found))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// healthOf fails where Argo CD would say Unknown because of the script.
func healthOf(object *unstructured.Unstructured, script string) (*health.HealthStatus, error) {
	key := lua.GetConfigMapKey(object.GroupVersionKind())
	scripts := lua.ResourceHealthOverrides{key: v1alpha1.ResourceOverride{HealthLua: script}}
	found, err := health.GetResourceHealth(object, scripts)
	if err == nil && (found == nil || found.Status == "" || found.Status == health.HealthStatusUnknown) {
		return nil, fmt.Errorf("the script gave no health: %v", found)
	}
	return found, err
}
